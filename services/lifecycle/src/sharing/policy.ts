// Who may give, change and end access (docs/reference/shared-access.md#operations). Pure.

import { covers, type Grant } from "@svc/proto";
import type { StoredMember } from "../database/member.ts";

/** Who acts, after `decideAccess` has let them. */
export type Actor =
  | { as: "owner" }
  /** On the operator console: ends access, gives none. */
  | { as: "staff" }
  | { as: "member"; member: StoredMember };

/** Whether an actor may offer this. */
export function mayGive(actor: Actor, grant: Grant): boolean {
  if (actor.as === "owner") return true;
  return actor.as === "member" && isInviter(actor.member) && covers(actor.member, grant);
}

/** Whether an actor may take this invitation back. */
export function mayTakeBack(actor: Actor, grant: Grant): boolean {
  return actor.as === "staff" || mayGive(actor, grant);
}

/** Whether an actor may end this member's access. Nobody removes themselves: they leave. */
export function mayEnd(actor: Actor, member: StoredMember): boolean {
  if (actor.as !== "member") return true;
  return actor.member.user_id !== member.user_id && mayGive(actor, member);
}

/** Whether an actor may replace what this member has. */
export function mayChange(actor: Actor, member: StoredMember, to: Grant): boolean {
  return actor.as !== "staff" && mayEnd(actor, member) && mayGive(actor, to);
}

function isInviter({ rights }: StoredMember): boolean {
  return rights.includes("invite");
}
