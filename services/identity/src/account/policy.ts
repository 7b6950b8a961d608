import type { Role } from "@svc/proto";

export function isStaffRole(role: Role): boolean {
  return role !== "user";
}

/** Staff without a durable way in are in setup; a verified e-mail is one only while mail can be sent (docs/reference/sign-in.md#proofs). */
export function isInSetup(
  account: { role: Role; emailVerified: boolean; hasPasskey: boolean },
  hasRelay: boolean,
): boolean {
  if (!isStaffRole(account.role)) return false;
  return !account.hasPasskey && !(account.emailVerified && hasRelay);
}
