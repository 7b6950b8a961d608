import type { Me } from "../api/session.ts";
import type { Route } from "./routes.ts";

type AccessDecision = "show" | "sign-in" | "not-found";

type Visitor = { me: Me | null; host: "player" | "operator" };

/** What a visitor gets to see at a route. Pages of others are not found: their existence is no secret, but no use. */
export function decideAccess(route: Route | undefined, { me, host }: Visitor): AccessDecision {
  if (!route || (route.host !== undefined && route.host !== host)) return "not-found";
  if (route.access === "anyone") return "show";
  if (!me) return "sign-in";
  if (route.access === "staff" && !me.is_admin) return "not-found";
  if (route.access === "owner" && !me.is_owner) return "not-found";
  return "show";
}
