import { userInfo } from "node:os";
import { isStaffRole } from "../account/policy.ts";
import { lockLiveAccount } from "../account/store.ts";
import type { IdentityTrx } from "../database.ts";
import { createSession, revokeSessions } from "../session/store.ts";
import { findOwner } from "../setup/store.ts";
import { auditAtHost } from "./audit.ts";
import type { Host } from "./context.ts";
import { getUser } from "./users.ts";

type HostSession = {
  user_id: string;
  username: string;
  role: string;
  /** The value of the cookie; it is not stored. */
  value: string;
  expires_at: string;
};

type SignInRequest = { who?: string | undefined; replaces?: string | undefined };

/**
 * A session of the owner, or of the operator `who`, for the person who holds the database: they could write the same
 * row by hand, so this grants nothing new. The session counts as proven for the same reason. The session
 * that it `replaces` (by the hash of its cookie) ends. Players are not signed in here.
 */
export async function signInAtHost(host: Host, { who, replaces }: SignInRequest): Promise<HostSession> {
  const wanted = who === undefined ? undefined : await getUser(host, who);
  const os = userInfo().username;
  return host.db.transaction().execute(async (trx) => {
    const userId = wanted?.id ?? (await findOwner(trx))?.id;
    const account = userId === undefined ? undefined : await lockLiveAccount(trx, userId);
    if (!account)
      throw new Error(
        "there is no owner yet; become the owner with `svc account setup --email YOU@EXAMPLE.NET`",
      );
    if (!isStaffRole(account.role)) throw new Error(`${account.username} is not an operator`);
    const session = await createSession(trx, {
      userId: account.id,
      door: "host",
      client: { address: "", userAgent: `svc on the host, by ${os}`, host: "operator" },
      now: host.now,
      ttlMs: host.settings.identity.session_ttl,
      isProof: true,
    });
    await endReplaced(trx, { userId: account.id, replaces, now: host.now });
    const payload = { user_id: account.id, session: session.tokenHash.slice(0, 12) };
    await auditAtHost(host, trx, { action: "break_glass.sign_in", payload });
    const { id: user_id, username, role } = account;
    return { user_id, username, role, value: session.value, expires_at: session.expiresAt.toISOString() };
  });
}

async function endReplaced(
  trx: IdentityTrx,
  { userId, replaces, now }: { userId: string; replaces: string | undefined; now: Date },
): Promise<void> {
  if (replaces !== undefined) await revokeSessions(trx, { userId, only: replaces, now });
}
