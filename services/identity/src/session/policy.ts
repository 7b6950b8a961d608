// Rules of sessions (docs/reference/sign-in.md#session): which ones are live, and which have proved themselves.

import type { FaceHost } from "@svc/proto";
import { isStaffRole } from "../account/policy.ts";
import type { SessionDoor } from "../database.ts";

export type SessionFacts = {
  door: SessionDoor;
  host: FaceHost;
  expiresAt: Date;
  revokedAt: Date | null;
  lastSeenAt: Date;
  role: "owner" | "admin" | "user";
  disabled: boolean;
  deletedAt: Date | null;
};

type SessionVerdict = "live" | "unknown" | "local_auth_off";

/** Forged, ended, idle and retired sessions are indistinguishable to callers. */
export function decideSession(
  session: SessionFacts,
  at: { now: Date; staffIdleMs: number; isPasswordDoorOpen: boolean },
): SessionVerdict {
  if (session.revokedAt || session.disabled || session.deletedAt) return "unknown";
  if (session.expiresAt <= at.now) return "unknown";
  if (isStaffRole(session.role) && at.now.getTime() - session.lastSeenAt.getTime() >= at.staffIdleMs)
    return "unknown";
  if (session.door === "password" && !at.isPasswordDoorOpen) return "local_auth_off";
  return "live";
}

/** Whether this session has a proof recent enough to change a way into the account. */
export function isProven(reauthAt: Date | null, at: { now: Date; reauthTtlMs: number }): boolean {
  return reauthAt !== null && at.now.getTime() - reauthAt.getTime() < at.reauthTtlMs;
}

const userAgentBytes = 256;
const addressLength = 64;

/** A user agent as it is stored: without control characters, at most 256 bytes, never half a character. */
export function truncateUserAgent(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const clean = text.replace(/[\u0000-\u001f\u007f]/g, "");
  const bytes = Buffer.from(clean);
  if (bytes.length <= userAgentBytes) return clean;
  return new TextDecoder().decode(bytes.subarray(0, userAgentBytes)).replace(/\ufffd+$/, "");
}

/** A client address as it is stored. */
export function truncateAddress(text: string): string {
  return text.replaceAll("\u0000", "").slice(0, addressLength);
}
