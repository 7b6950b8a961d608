import type { Context, Handler } from "@svc/mesh";
import type { users } from "@svc/proto";
import { revokeTokens } from "../api-token/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { IdentityTrx } from "../database.ts";
import type { Deps } from "../deps.ts";
import { requireReauth } from "../fresh-proof/require.ts";
import type { MailQueue } from "../mail/queue.ts";
import { tell } from "../passkey/register.ts";
import { deleteCredentialsOf } from "../passkey/store.ts";
import { getAccount } from "../principal.ts";
import { revokeSessions } from "../session/store.ts";
import { removeKeys } from "../ssh-key/store.ts";
import { lockUser } from "./store.ts";

type MailingDeps = Deps & { mailQueue: MailQueue };

/** identity.user.remove-passkeys: sessions, API tokens and SSH keys end too, so that a lost device is signed out. */
export function createRemoveUserPasskeys(deps: MailingDeps): Handler<typeof users.removePasskeys> {
  const { db, events, mailQueue } = deps;
  return async (context, { id }) => {
    const removed = await db.transaction().execute(async (trx) => {
      const { removed, revoked: count } = await removeAll(deps, trx, { context, id });
      await events.sessionsRevoked(trx, context, { count, action: "user.session.revoke" });
      const payload = { user_id: id, removed };
      await recordAudit(trx, context, { action: "user.passkeys.remove", payload });
      return removed;
    });
    if (removed > 0) mailQueue.wake();
    return { ok: true };
  };
}

type Removal = { context: Context<typeof users.removePasskeys>; id: string };

async function removeAll(deps: MailingDeps, trx: IdentityTrx, { context, id }: Removal) {
  const { user_id: callerId, session } = getAccount(context.principal);
  const account = await lockUser(trx, id);
  if (!account) throw context.fault("not_found", { message: "User not found." });
  const isOwn = id === callerId;
  if (isOwn) await requireReauth(deps, trx, { account, session });
  const removed = await deleteCredentialsOf(trx, id);
  if (removed === 0) return { removed, revoked: 0 };
  await tell(deps, trx, { account, kind: "passkey_removed", name: "" });
  if (!isOwn) {
    await revokeTokens(trx, { userId: id, now: deps.now() });
    await removeKeys(trx, { userId: id, now: deps.now() });
  }
  const about = { userId: id, now: deps.now(), ...(isOwn && { except: session }) };
  return { removed, revoked: await revokeSessions(trx, about) };
}
