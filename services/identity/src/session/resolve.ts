import type { Handler } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import { isInSetup } from "../account/policy.ts";
import type { Deps } from "../deps.ts";
import { decideSession } from "./policy.ts";
import { findSession, recordSeen } from "./store.ts";

/** identity.session.resolve */
export function createResolve(deps: Omit<Deps, "events">): Handler<typeof accounts.resolveSession> {
  const { db, limits } = deps;
  return async (_context, { hash, is_use: isUse }) => {
    const now = deps.now();
    const session = await findSession(db, hash);
    if (!session) return { state: "unknown" };
    const { isPasswordDoorOpen } = session;
    const state = decideSession(session, { now, staffIdleMs: limits.staff_idle, isPasswordDoorOpen });
    if (state !== "live") return { state };
    if (isUse && now.getTime() - session.lastSeenAt.getTime() >= limits.last_seen_every)
      await recordSeen(db, { tokenHash: hash, now, lastSeenAt: session.lastSeenAt });
    const { userId, username, role, emailVerified, hasPasskey } = session;
    return {
      state,
      user_id: userId,
      username,
      role,
      setup: isInSetup({ role, emailVerified, hasPasskey }, deps.hasRelay),
      expires_at: session.expiresAt.toISOString(),
      host: session.host,
    };
  };
}
