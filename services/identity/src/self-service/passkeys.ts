import type { Context, Handler } from "@svc/mesh";
import { Fault, type passkeys } from "@svc/proto";
import { isStaffRole } from "../account/policy.ts";
import { type Account, hasIdentityAt, lockLiveAccount } from "../account/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import type { PasskeyDeps } from "../passkey/deps.ts";
import { tell, toView } from "../passkey/register.ts";
import { deleteCredential, listCredentials } from "../passkey/store.ts";
import { getAccount } from "../principal.ts";
import { revokeSessions } from "../session/store.ts";

/** identity.passkey.list */
export function createListPasskeys({ db }: PasskeyDeps): Handler<typeof passkeys.list> {
  return async ({ principal }) => {
    const rows = await listCredentials(db, getAccount(principal).user_id);
    return { credentials: rows.map(toView) };
  };
}

/** identity.passkey.remove */
export function createRemovePasskey(deps: PasskeyDeps): Handler<typeof passkeys.remove> {
  const { db, events, mailQueue } = deps;
  return async (context, { id }) => {
    await db.transaction().execute(async (trx) => {
      const count = await remove(deps, trx, { context, id });
      await recordAudit(trx, context, { action: "account.passkey.unbound", payload: { passkey: id } });
      await events.sessionsRevoked(trx, context, { count, action: "account.session.revoke_others" });
    });
    mailQueue.wake();
    return null;
  };
}

/** A player's; staff need a way in of their own. */
async function hasIdentity(
  { issuers }: PasskeyDeps,
  trx: IdentityTrx,
  { id, role }: Account,
): Promise<boolean> {
  return !isStaffRole(role) && hasIdentityAt(trx, { userId: id, issuers });
}

type Removal = { context: Context<typeof passkeys.remove>; id: string };

async function remove(deps: PasskeyDeps, trx: IdentityTrx, { context, id }: Removal): Promise<number> {
  const { user_id: userId, session } = getAccount(context.principal);
  // The lock makes the last two passkeys of an account go one after the other.
  const account = await lockLiveAccount(trx, userId);
  if (!account) throw new Fault("unauthorized");
  await requireReauth(deps, trx, { account, session });
  const bound = await listCredentials(trx, userId);
  const wanted = bound.find((credential) => credential.id === id);
  if (!wanted) throw context.fault("not_found", { message: "Passkey not found." });
  const hasAnotherWay =
    bound.length > 1 || (account.email_verified && deps.hasRelay) || (await hasIdentity(deps, trx, account));
  if (!hasAnotherWay) throw context.fault("last_passkey");
  await deleteCredential(trx, { id, userId });
  await tell(deps, trx, { account, kind: "passkey_removed", name: wanted.name });
  return revokeSessions(trx, { userId, now: deps.now(), except: session });
}
