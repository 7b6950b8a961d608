// What a session may do (docs/reference/http.md#tiers, docs/reference/sign-in.md#session): the tier is decided here, ownership by the owner.

import type { AccountPrincipal, accounts, FaceHost, FaultName, HttpBinding } from "@svc/proto";

export type LiveSession = Extract<accounts.SessionAnswer, { state: "live" }>;

/**
 * The fault with which a live session is refused, first rule wins; undefined when it is allowed.
 * A player's session on the operator console host is refused everywhere but at an operation that ends it.
 */
export function refusalOf(
  http: Pick<HttpBinding, "tier" | "setup" | "session">,
  session: LiveSession,
  host: FaceHost,
): FaultName | undefined {
  const { role } = session;
  const onAdminHost = host === "operator";
  const isPublic = http.tier === "public";
  if (onAdminHost && role === "user" && !(isPublic && http.session === "ends")) return "forbidden";
  if (isPublic) return undefined;
  if (http.tier === "admin" && !isStaff(session, host)) return "forbidden";
  if (http.tier === "owner" && !(role === "owner" && onAdminHost)) return "forbidden";
  if (session.setup && !http.setup) return "setup_required";
  return undefined;
}

function isStaff(session: LiveSession, host: FaceHost): boolean {
  return host === "operator" && session.role !== "user";
}

/** The principal that travels with the request. */
export function principalOf(session: LiveSession, hash: string, host: FaceHost): AccountPrincipal {
  return {
    kind: "account",
    user_id: session.user_id,
    username: session.username,
    role: session.role,
    staff: isStaff(session, host),
    setup: session.setup,
    session: hash,
  };
}
