// Rules of CLI logins (docs/reference/sign-in.md#cli-login). Pure.

import type { FaceHost, Role } from "@svc/proto";
import { networkOf } from "../budget/network.ts";

type CliLoginFacts = {
  host: FaceHost;
  expiresAt: Date;
  decision: "approve" | "refuse" | null;
  decidedRole: Role | null;
  consumedAt: Date | null;
};
type At = { now: Date; host: FaceHost };

/** Whether a CLI login still waits for a decision on this host. */
export function isWaiting(login: CliLoginFacts | undefined, at: At): login is CliLoginFacts {
  return isLive(login, at) && login.decision === null;
}

/** The approver and the session that approved, as they are at the finish. */
export type Approver = { role: Role; isSessionLive: boolean };
export type FinishVerdict = "pending" | "refused" | "invalid" | "approval_void" | "sign_in";

/**
 * Expired, used and foreign logins are indistinguishable. An approval is void once the approver was disabled, deleted or
 * given another role, or their session ended.
 */
export function decideFinish(
  login: CliLoginFacts | undefined,
  approver: Approver | undefined,
  at: At,
): FinishVerdict {
  if (!isLive(login, at)) return "invalid";
  if (login.decision === null) return "pending";
  if (login.decision === "refuse") return "refused";
  if (!approver?.isSessionLive || approver.role !== login.decidedRole) return "approval_void";
  return "sign_in";
}

function isLive(login: CliLoginFacts | undefined, { now, host }: At): login is CliLoginFacts {
  return login !== undefined && login.host === host && login.consumedAt === null && login.expiresAt > now;
}

/** Milliseconds that the new session lives: no longer than the one that approved it. */
export function sessionTtlMs(approverExpiresAt: Date, at: { now: Date; ttlMs: number }): number {
  return Math.min(at.ttlMs, approverExpiresAt.getTime() - at.now.getTime());
}

/** Whether two addresses are one IPv4 address or in one IPv6 /64; unknown ones are not. */
export function isSameNetwork(one: string, other: string): boolean {
  return one !== "" && networkOf(one, 4) === networkOf(other, 4);
}
