import type { Handler } from "@svc/mesh";
import type { accountMigrations } from "@svc/proto";
import { lockLinkedAccount } from "../link/store.ts";
import type { Serving } from "../service-deps.ts";
import { auditMigration } from "./audit.ts";
import { decideStart } from "./policy.ts";
import { findUnfinished, openMigration } from "./store.ts";

/** identity.account-migration.start: the player was verified by the proxy; nothing moves yet. */
export function createStart({ deps, mesh }: Serving): Handler<typeof accountMigrations.start> {
  return async (context, { mc_uuid: mcUuid }) => {
    const now = deps.now();
    const source = await deps.db.transaction().execute(async (trx) => {
      const account = await lockLinkedAccount(trx, mcUuid);
      const current = account && (await findUnfinished(trx, account.id));
      const verdict = decideStart(account, current);
      if (verdict !== "open" || !account) throw context.fault(verdict === "open" ? "internal" : verdict);
      await openMigration(trx, { sourceUserId: account.id, now });
      return account;
    });
    const subject = { userId: source.id, username: source.username };
    auditMigration(mesh, context, { ...subject, action: "start", payload: { mc_uuid: mcUuid } });
    return { started: true, state: "initiated" };
  };
}
