import { type AccountPrincipal, Fault, type Principal } from "@svc/proto";

/** The signed-in account of a request. The gateway lets nobody else through; anybody else is refused here too. */
export function getAccount(principal: Principal): AccountPrincipal {
  if (principal.kind !== "account") throw new Fault("unauthorized");
  return principal;
}
