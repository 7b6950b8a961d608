// A person's own sessions (docs/reference/sign-in.md#doors, docs/reference/accounts.md#me).

import type { Handler } from "@svc/mesh";
import { type accounts, Fault } from "@svc/proto";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { getAccount } from "../principal.ts";
import { endSession, listLive, revokeSessions } from "../session/store.ts";
import { toSessionView } from "../session/view.ts";

/** identity.session.logout: ends the presented session, if any, live or not; the cookie is cleared in every case. */
export function createLogout({ db, events, now }: Deps): Handler<typeof accounts.logout> {
  return async (context) => {
    const { principal } = context;
    context.reply.session = null;
    const hash = "session" in principal ? principal.session : undefined;
    if (hash === undefined) return { ok: true };
    await db.transaction().execute(async (trx) => {
      const { count, ...subject } = await endSession(trx, { hash, now: now() });
      if (count > 0) await recordAudit(trx, context, { action: "auth.logout", ...subject });
      await events.sessionsRevoked(trx, context, { count, action: "auth.logout" });
    });
    return { ok: true };
  };
}

/** identity.session.list */
export function createListSessions({ db, limits, now }: Deps): Handler<typeof accounts.listSessions> {
  return async ({ principal }) => {
    const account = getAccount(principal);
    const about = { userId: account.user_id, now: now(), limit: limits.session_list_limit };
    const rows = await listLive(db, about);
    return { sessions: rows.map((row) => toSessionView(row, account.session)) };
  };
}

/** identity.session.revoke */
export function createRevokeSession({ db, events, now }: Deps): Handler<typeof accounts.revokeSession> {
  return async (context, { hash }) => {
    const account = getAccount(context.principal);
    const about = { userId: account.user_id, only: hash, now: now() };
    await db.transaction().execute(async (trx) => {
      const count = await revokeSessions(trx, about);
      if (count === 0) throw new Fault("session_not_found");
      await events.sessionsRevoked(trx, context, { count, action: "account.session.revoke" });
    });
    const isOwn = hash === account.session;
    if (isOwn) context.reply.session = null;
    return { ok: true, signed_out: isOwn };
  };
}

/** identity.session.revoke-others */
export function createRevokeOthers({ db, events, now }: Deps): Handler<typeof accounts.revokeOtherSessions> {
  return async (context) => {
    const account = getAccount(context.principal);
    const about = { userId: account.user_id, except: account.session, now: now() };
    const revoked = await db.transaction().execute(async (trx) => {
      const count = await revokeSessions(trx, about);
      await events.sessionsRevoked(trx, context, { count, action: "account.session.revoke_others" });
      return count;
    });
    return { revoked };
  };
}
