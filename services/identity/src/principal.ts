import { type AccountPrincipal, Fault, type Principal } from "@svc/proto";

/** The signed-in account of a request. The gateway rejects all others and every API token, and so does this. */
export function getAccount(principal: Principal): AccountPrincipal {
  if (principal.kind !== "account") throw new Fault("unauthorized");
  if (principal.token) throw new Fault("forbidden", { message: "API tokens are not accepted here." });
  return principal;
}
