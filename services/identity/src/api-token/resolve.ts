import type { Handler } from "@svc/mesh";
import type { apiTokens } from "@svc/proto";
import { isInSetup } from "../account/policy.ts";
import { hasPasskey } from "../account/store.ts";
import type { Deps } from "../deps.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { decideToken, isNewUse } from "./policy.ts";
import { findToken, recordUse } from "./store.ts";

/** identity.api-token.resolve */
export function createResolveToken(
  deps: Omit<Deps, "events"> & Pick<ServiceDeps, "lastUses">,
): Handler<typeof apiTokens.resolve> {
  const { db, limits, lastUses } = deps;
  return async ({ client }, { hash }) => {
    const now = deps.now();
    const token = await findToken(db, hash);
    if (!token) return { state: "unknown" };
    const state = decideToken(token, now);
    if (state !== "live") return { state };
    const { id, userId, username, role, emailVerified, grant, expiresAt } = token;
    const { address } = client;
    if (isNewUse(token.lastUse, { now, address, everyMs: limits.last_seen_every }))
      lastUses.note(id, () => recordUse(db, { id, now, address }));
    const ways = { role, emailVerified, hasPasskey: role !== "user" && (await hasPasskey(db, userId)) };
    const setup = isInSetup(ways, deps.hasRelay);
    return { state, user_id: userId, username, setup, expires_at: expiresAt.toISOString(), grant };
  };
}
