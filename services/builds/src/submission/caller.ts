import { Fault, type Principal } from "@svc/proto";

/** The account that asks; these operations serve no other caller. */
export function accountOf(principal: Principal): { userId: string; username: string } {
  if (principal.kind !== "account") throw new Fault("forbidden");
  return { userId: principal.user_id, username: principal.username };
}
