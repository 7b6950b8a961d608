// When a change to the ways into an account requires a fresh proof, and how it can be given (docs/reference/sign-in.md#proofs). Pure.

import type { Role } from "@svc/proto";
import { isStaffRole } from "../account/policy.ts";
import { isProven } from "../session/policy.ts";

export type Ways = {
  role: Role;
  emailVerified: boolean;
  hasPasskey: boolean;
  hasRelay: boolean;
  hasIdentity: boolean;
};
export type Factor = "passkey" | "email" | "sign_in";

/** The accepted proofs, best first; none while the account has no durable way in. */
export function factorsOf({ role, emailVerified, hasPasskey, hasRelay, hasIdentity }: Ways): Factor[] {
  const factors: Factor[] = hasPasskey ? ["passkey"] : [];
  const isMailable = emailVerified && hasRelay;
  // Staff do not prove themselves by mail: access to an operator's mailbox must not be enough.
  if (isStaffRole(role)) return hasPasskey || isMailable ? [...factors, "sign_in"] : factors;
  if (isMailable) factors.push("email");
  return factors.length === 0 && hasIdentity ? ["sign_in"] : factors;
}

/**
 * Whether signing in with an OpenID provider is a proof: only where there is no better one, since the provider may let
 * somebody pass who merely sits at a browser that it knows. Of staff it never is.
 */
export function isProvenBySignIn(ways: Ways): boolean {
  return !isStaffRole(ways.role) && factorsOf(ways).includes("sign_in");
}

/** Whether a change is refused until there is a proof. */
export function needsProof(
  ways: Ways,
  reauthAt: Date | null,
  at: { now: Date; reauthTtlMs: number },
): boolean {
  return factorsOf(ways).length > 0 && !isProven(reauthAt, at);
}
