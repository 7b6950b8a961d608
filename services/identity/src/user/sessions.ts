import type { Handler } from "@svc/mesh";
import type { users } from "@svc/proto";
import { revokeTokens } from "../api-token/store.ts";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { revokeSessions } from "../session/store.ts";
import { removeKeys } from "../ssh-key/store.ts";
import { findUser } from "./store.ts";

/** identity.user.revoke-sessions: API tokens and SSH keys end too, so that whoever is in is out. */
export function createRevokeUserSessions(deps: Deps): Handler<typeof users.revokeSessions> {
  return async (context, { id }) => {
    if (!(await findUser(deps.db, id))) throw context.fault("not_found", { message: "User not found." });
    await deps.db.transaction().execute(async (trx) => {
      const count = await revokeSessions(trx, { userId: id, now: deps.now() });
      const tokens = await revokeTokens(trx, { userId: id, now: deps.now() });
      await removeKeys(trx, { userId: id, now: deps.now() });
      await deps.events.sessionsRevoked(trx, context, { count, action: "auth.logout" });
      const payload = { user_id: id, sessions: count, tokens: tokens.length };
      await recordAudit(trx, context, { action: "user.session.revoke", payload });
    });
    return { ok: true };
  };
}

/** identity.user.revoke-session */
export function createRevokeUserSession(deps: Deps): Handler<typeof users.revokeSession> {
  return async (context, { id, hash }) => {
    await deps.db.transaction().execute(async (trx) => {
      const count = await revokeSessions(trx, { userId: id, only: hash, now: deps.now() });
      if (count === 0) throw context.fault("session_not_found");
      await deps.events.sessionsRevoked(trx, context, { count, action: "auth.logout" });
      const payload = { user_id: id, sessions: 1 };
      await recordAudit(trx, context, { action: "user.session.revoke", payload });
    });
    return { ok: true };
  };
}
