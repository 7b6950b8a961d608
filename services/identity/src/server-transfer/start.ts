import type { Handler } from "@svc/mesh";
import type { accountMigrations } from "@svc/proto";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { lockLinkedAccount } from "../link/store.ts";
import { decideStart } from "./policy.ts";
import { findUnfinished, openTransfer } from "./store.ts";

/** identity.account-transfer.start: the player was verified by the proxy; nothing moves yet. */
export function createStart(deps: Deps): Handler<typeof accountMigrations.start> {
  return async (context, { mc_uuid: mcUuid }) => {
    const now = deps.now();
    await deps.db.transaction().execute(async (trx) => {
      const account = await lockLinkedAccount(trx, mcUuid);
      const current = account && (await findUnfinished(trx, account.id));
      const verdict = decideStart(account, current);
      if (verdict !== "open" || !account) throw context.fault(verdict === "open" ? "internal" : verdict);
      await openTransfer(trx, { sourceUserId: account.id, now });
      const subject = { userId: account.id, username: account.username };
      const payload = { mc_uuid: mcUuid };
      await recordAudit(trx, context, { action: "account.migrate.start", ...subject, payload });
    });
    return { started: true, state: "initiated" };
  };
}
