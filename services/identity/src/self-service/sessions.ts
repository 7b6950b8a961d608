// A person's own sessions (api.md A6 logout, A11).

import type { Handler } from "@svc/mesh";
import { type accounts, Fault } from "@svc/proto";
import type { Deps } from "../deps.ts";
import { getAccount } from "../principal.ts";
import { endSession, listLive, revokeSessions } from "../session/store.ts";
import { toSessionView } from "../session/view.ts";

/** identity.session.logout: ends the presented session, if any, live or not; the cookie goes in every case. */
export function createLogout({ db, events, now }: Deps): Handler<typeof accounts.logout> {
  return async (context) => {
    const { principal } = context;
    context.reply.session = null;
    const hash = "session" in principal ? principal.session : undefined;
    if (hash === undefined) return { ok: true };
    const ended = await db.transaction().execute((trx) => endSession(trx, { hash, now: now() }));
    if (ended.count > 0) events.loggedOut(context, ended);
    events.sessionsRevoked(context, { count: ended.count, action: "auth.logout" });
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
    const count = await db.transaction().execute((trx) => revokeSessions(trx, about));
    if (count === 0) throw new Fault("session_not_found");
    events.sessionsRevoked(context, { count, action: "account.session.revoke" });
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
    const count = await db.transaction().execute((trx) => revokeSessions(trx, about));
    events.sessionsRevoked(context, { count, action: "account.session.revoke_others" });
    return { revoked: count };
  };
}
