// Who may pass (interface.md 5, architecture.md 4): the tier is decided here, ownership by the owner.

import type { AccountPrincipal, accounts, FaultName, HttpBinding } from "@svc/proto";

export type LiveSession = Extract<accounts.SessionAnswer, { state: "live" }>;

/**
 * Decides what a live session may not do, first answer wins; undefined = it may pass.
 * A player's session on the operator console host is refused everywhere but at an operation that ends it.
 */
export function refusalOf(
  http: Pick<HttpBinding, "tier" | "setup" | "session">,
  session: LiveSession,
  onAdminHost: boolean,
): FaultName | undefined {
  const { role } = session;
  const isPublic = http.tier === "public";
  if (onAdminHost && role === "user" && !(isPublic && http.session === "ends")) return "forbidden";
  if (isPublic) return undefined;
  if (http.tier === "admin" && !isStaff(session, onAdminHost)) return "forbidden";
  if (http.tier === "owner" && !(role === "owner" && onAdminHost)) return "forbidden";
  if (session.setup && !http.setup) return "setup_required";
  return undefined;
}

function isStaff(session: LiveSession, onAdminHost: boolean): boolean {
  return onAdminHost && session.role !== "user";
}

/** The principal that travels with the request. */
export function principalOf(session: LiveSession, hash: string, onAdminHost: boolean): AccountPrincipal {
  return {
    kind: "account",
    user_id: session.user_id,
    username: session.username,
    role: session.role,
    staff: isStaff(session, onAdminHost),
    setup: session.setup,
    session: hash,
  };
}
