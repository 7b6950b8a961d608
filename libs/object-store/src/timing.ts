// Deadlines and pauses (docs/reference/off-site.md#store).

import type { Timing } from "./types.ts";

export const defaultTiming: Timing = {
  objectGraceMs: 600_000,
  requestGraceMs: 60_000,
  minRate: 512 * 1024,
  attempts: 6,
  firstPauseMs: 500,
  maxPauseMs: 60_000,
  connectMs: 10_000,
};

/**
 * Milliseconds that `bytes` may take. Where uploads are limited to fewer bytes a second than a connection must average,
 * the limit counts, with a half to spare.
 */
export function timeFor(
  bytes: number,
  { graceMs, minRate, uploadRate = 0 }: { graceMs: number; minRate: number; uploadRate?: number | undefined },
): number {
  const rate = uploadRate > 0 ? Math.min(minRate, uploadRate / 1.5) : minRate;
  return Math.ceil(graceMs + (bytes / rate) * 1_000);
}

/** The pause before attempt `failed + 1`, or undefined when that was the last one. `spread` is a number from 0 to 1. */
export function pauseAfter(
  failed: number,
  { retryAfterMs, spread, timing }: { retryAfterMs: number | undefined; spread: number; timing: Timing },
): number | undefined {
  if (failed >= timing.attempts) return undefined;
  const doubled = Math.min(timing.maxPauseMs, timing.firstPauseMs * 2 ** (failed - 1));
  // A store that asks for more than the longest pause is asked again within it.
  return Math.max(Math.min(retryAfterMs ?? 0, timing.maxPauseMs), Math.round(doubled * (0.5 + spread / 2)));
}

/** Milliseconds of a `Retry-After` header; undefined when there is none that can be read. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
