// When a change to the ways into an account requires a fresh proof, and how it can be given (docs/reference/sign-in.md#proofs). Pure.

import type { Role } from "@svc/proto";
import { isStaffRole } from "../account/policy.ts";
import { isProven } from "../session/policy.ts";

export type Ways = { role: Role; emailVerified: boolean; hasPasskey: boolean; hasRelay: boolean };
export type Factor = "passkey" | "email" | "sign_in";

/** The accepted proofs, best first; none while the account has no durable way in. */
export function factorsOf({ role, emailVerified, hasPasskey, hasRelay }: Ways): Factor[] {
  const factors: Factor[] = hasPasskey ? ["passkey"] : [];
  const isMailable = emailVerified && hasRelay;
  // Staff do not prove themselves by mail: access to an operator's mailbox must not be enough.
  if (isStaffRole(role)) return hasPasskey || isMailable ? [...factors, "sign_in"] : factors;
  return isMailable ? [...factors, "email"] : factors;
}

/** Whether a change is refused until there is a proof. */
export function needsProof(
  ways: Ways,
  reauthAt: Date | null,
  at: { now: Date; reauthTtlMs: number },
): boolean {
  return factorsOf(ways).length > 0 && !isProven(reauthAt, at);
}
