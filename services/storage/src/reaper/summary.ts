// The summary of a run, in one line (docs/reference/reaper.md#summary). Pure.

export const summaryKeys = [
  "evaluated",
  "reaped",
  "released",
  "deleted",
  "awaiting_offsite",
  "awaiting_stop",
  "warned",
  "skipped",
  "store_full",
  "evicted",
  "expired",
  "expire_failed",
  "verified",
  "corrupt",
  "verify_failed",
  "swept",
  "orphan_archives",
] as const;
export type SummaryKey = (typeof summaryKeys)[number];
export type Summary = Record<SummaryKey, number>;

const alarming: readonly SummaryKey[] = ["skipped", "expire_failed", "corrupt", "verify_failed"];

export function emptySummary(): Summary {
  return Object.fromEntries(summaryKeys.map((key) => [key, 0])) as Summary;
}

/** `svc reaper: evaluated=… reaped=… …`, every key, in order. */
export function summaryLine(summary: Summary): string {
  return `svc reaper: ${summaryKeys.map((key) => `${key}=${summary[key]}`).join(" ")}`;
}

/** Whether no operator has to look: then the exit code is 0, else 1. */
export function isGood(summary: Summary, isSweepComplete: boolean): boolean {
  return isSweepComplete && alarming.every((key) => summary[key] === 0);
}
