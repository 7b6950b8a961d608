import type { Handler } from "@svc/mesh";
import type { users } from "@svc/proto";
import type { Serving } from "../service-deps.ts";
import { revokeSessions } from "../session/store.ts";
import { auditUser } from "./audit.ts";
import { findUser } from "./store.ts";

/** identity.user.revoke-sessions */
export function createRevokeUserSessions({ mesh, deps }: Serving): Handler<typeof users.revokeSessions> {
  return async (context, { id }) => {
    if (!(await findUser(deps.db, id)))
      throw context.fault("not_found", { message: "There is no such user." });
    const about = { userId: id, now: deps.now() };
    const count = await deps.db.transaction().execute((trx) => revokeSessions(trx, about));
    deps.events.sessionsRevoked(context, { count, action: "auth.logout" });
    auditUser(mesh, context, {
      action: "user.session.revoke",
      payload: { user_id: id, sessions: count },
    });
    return { ok: true };
  };
}

/** identity.user.revoke-session */
export function createRevokeUserSession({ mesh, deps }: Serving): Handler<typeof users.revokeSession> {
  return async (context, { id, hash }) => {
    const about = { userId: id, only: hash, now: deps.now() };
    const count = await deps.db.transaction().execute((trx) => revokeSessions(trx, about));
    if (count === 0) throw context.fault("session_not_found");
    deps.events.sessionsRevoked(context, { count, action: "auth.logout" });
    auditUser(mesh, context, { action: "user.session.revoke", payload: { user_id: id, sessions: 1 } });
    return { ok: true };
  };
}
