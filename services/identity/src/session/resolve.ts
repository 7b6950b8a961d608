import type { Handler } from "@svc/mesh";
import type { accounts } from "@svc/proto";
import { isInSetup } from "../account/policy.ts";
import type { Deps } from "../deps.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { decideSession } from "./policy.ts";
import { findSession, recordSeen } from "./store.ts";

/** identity.session.resolve */
export function createResolve(
  deps: Omit<Deps, "events"> & Pick<ServiceDeps, "lastUses">,
): Handler<typeof accounts.resolveSession> {
  const { db, limits, lastUses } = deps;
  return async (_context, { hash, is_use: isUse }) => {
    const now = deps.now();
    const session = await findSession(db, hash);
    if (!session) return { state: "unknown" };
    const { isPasswordDoorOpen } = session;
    const state = decideSession(session, { now, staffIdleMs: limits.staff_idle, isPasswordDoorOpen });
    if (state !== "live") return { state };
    const { lastSeenAt } = session;
    if (isUse && now.getTime() - lastSeenAt.getTime() >= limits.last_seen_every)
      lastUses.note(hash, () => recordSeen(db, { tokenHash: hash, now, lastSeenAt }));
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
