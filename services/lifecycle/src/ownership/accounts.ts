// What identity requests when an account is deleted, transfers its servers or is displayed.

import type { Handler } from "@svc/mesh";
import { describeExceeded } from "../server/quota.ts";
import type { contracts, OwnershipDeps } from "./deps.ts";

export const releaseAccount =
  ({ ownership }: OwnershipDeps): Handler<typeof contracts.releaseAccount> =>
  async (_context, { user_id }) => ({ released: await ownership.releaseAccount(user_id) });

export const transferAccount =
  ({ ownership }: OwnershipDeps): Handler<typeof contracts.transferAccount> =>
  async (context, { transfer_id, from_user_id, to_user_id, limits }) => {
    if (from_user_id === to_user_id) {
      throw context.fault("bad_request", {
        message: "Servers cannot be transferred to the account that has them.",
      });
    }
    const about = { transferId: transfer_id, from: from_user_id, to: to_user_id };
    const servers = await ownership.transfer(about, (used, more) => {
      const problem = describeExceeded(limits, used, more);
      if (problem !== undefined) {
        throw context.fault("migrate_quota_exceeded", { message: `${problem} Nothing was moved.` });
      }
    });
    return { servers };
  };

export const countOwned =
  ({ ownership }: OwnershipDeps): Handler<typeof contracts.countOwned> =>
  async (_context, { user_ids }) => ({ counts: await ownership.count(user_ids) });
