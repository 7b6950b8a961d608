// Limits of submissions (docs/reference/submissions.md#limits). Pure.

import { Fault } from "@svc/proto";

const mostNameChars = 200;
const nameShape = /^[\p{L}\p{M}\p{N} ._:()[\]/+-]+$/u;

/** A name without spaces around it. Throws `bad_request`. */
export function readDisplayName(given: string): string {
  const name = given.trim();
  if (name === "" || [...name].length > mostNameChars || !nameShape.test(name)) {
    const message = `display_name: must be 1 to ${mostNameChars} letters, digits, spaces and . _ : ( ) [ ] / + -`;
    throw new Fault("bad_request", { message });
  }
  return name;
}

export type Usage = {
  /** Bytes of the account's pending and rejected contexts, and what it has staged or is bringing. */
  account: number;
  /** The same of all accounts. */
  all: number;
  /** Bytes that writers are bringing and the volume may not have yet. */
  reserved: number;
  volume: { size: number; free: number } | undefined;
};
type SpaceLimits = { accountBytes: number; allBytes: number; keepFree: number };

/** Throws `submission_quota_exceeded` or `uploads_full` when there is no room for so many bytes more. */
export function checkRoom(usage: Usage, limits: SpaceLimits, bytes: number): void {
  const { accountBytes, allBytes, keepFree } = limits;
  if (usage.account + bytes > accountBytes) {
    const message = `Your uploads may use ${accountBytes} bytes; withdraw a submission first.`;
    throw new Fault("submission_quota_exceeded", { message });
  }
  if (usage.all + bytes > allBytes) throw new Fault("uploads_full", { message: "The upload area is full." });
  const { volume, reserved } = usage;
  if (volume && volume.free - reserved - bytes < volume.size * keepFree) throw new Fault("uploads_full");
}

/** Throws `submission_cooldown` with the seconds that are left, at least one. */
export function checkCooldown(startedAt: Date | undefined, cooldownMs: number, now: Date): void {
  const leftMs = startedAt === undefined ? 0 : startedAt.getTime() + cooldownMs - now.getTime();
  if (leftMs <= 0) return;
  throw new Fault("submission_cooldown", { retryAfterSeconds: Math.ceil(leftMs / 1_000) });
}
