// A role that claims gave lapses when its holder has not come by way of the provider for a while: who was removed there could
// go on with a passkey for ever (docs/reference/sign-in.md#oidc-roles).

import { startLoop } from "@svc/service/loop";
import { auditRow } from "@svc/store";
import type { Logger } from "@svc/telemetry";
import type { Limits } from "../config.ts";
import type { IdentityDb, IdentityTrx } from "../database.ts";
import { changeRole } from "./role.ts";
import { findLapsed, listIdentities, lockAccount, withdrawRole } from "./store.ts";

type LapseNeeds = {
  db: IdentityDb;
  limits: Pick<Limits, "oidc_role_keep" | "oidc_role_check">;
  now: () => Date;
  log: Logger;
};

/** Takes lapsed roles away until closed; any number of replicas may run it. */
export function startLapse(needs: LapseNeeds): { close: () => Promise<void> } {
  return startLoop(() => withdrawLapsed(needs), {
    everyMs: needs.limits.oidc_role_check,
    onError: (error) => needs.log.warn({ err: error }, "looking for lapsed roles failed; retrying"),
  });
}

async function withdrawLapsed({ db, limits, now, log }: LapseNeeds): Promise<void> {
  const before = new Date(now().getTime() - limits.oidc_role_keep);
  for (const { user_id: userId } of await findLapsed(db, before)) {
    const isLost = await db.transaction().execute((trx) => withdraw(trx, { userId, before, now: now() }));
    if (isLost) log.info({ user_id: userId }, "took a lapsed role away");
  }
}

type Lapsed = { userId: string; before: Date; now: Date };

async function withdraw(trx: IdentityTrx, { userId, before, now }: Lapsed): Promise<boolean> {
  const account = await lockAccount(trx, userId);
  if (!account) return false;
  await withdrawRole(trx, { userId, before });
  const isGiven = (await listIdentities(trx, userId)).some(({ gave_admin }) => gave_admin);
  if (isGiven || account.role !== "admin") return false;
  await changeRole(trx, { account, role: "user", now });
  const payload = { user_id: userId, from: "admin", to: "user" };
  const entry = { actor: "identity", source: "identity", action: "user.role.claims", payload };
  await trx.insertInto("outbox").values(auditRow("identity", entry)).execute();
  return true;
}
