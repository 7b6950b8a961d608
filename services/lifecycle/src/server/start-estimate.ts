// How long a server takes to start, learned from its own starts (docs/reference/server-states.md#estimate). Pure.

import type { MinecraftServerStatus, StartEstimate } from "@svc/proto";

export type StartDurations = NonNullable<MinecraftServerStatus["startDurations"]>;

/** The last starts that count. With twenty, one slow start in twenty does not move p95. */
const keptStarts = 20;
/** Starts of an older image that count beside those of a new one. */
const keptOfOldImage = 3;
/** With fewer starts than this their spread is unknown, and p95 leaves room. */
const fewStarts = 5;
const roomWithFewStarts = 1.5;

/**
 * The durations with one more start. Those of another image are not dropped, because an update seldom changes much and
 * no estimate is worse than an old one; but only the newest few stay, so that the new image's own soon outweigh them.
 */
export function addStart(
  known: StartDurations | undefined,
  start: { image: string; seconds: number },
): StartDurations {
  const { image, seconds } = start;
  const counted = known?.image === image ? known.seconds : (known?.seconds ?? []).slice(-keptOfOldImage);
  return { image, seconds: [...counted, Math.max(1, Math.ceil(seconds))].slice(-keptStarts) };
}

/** Undefined until there was a start. */
export function estimateOf(durations: StartDurations | undefined): StartEstimate | undefined {
  const sorted = [...(durations?.seconds ?? [])].sort((a, b) => a - b);
  const p50 = quantile(sorted, 0.5);
  const p95 = quantile(sorted, 0.95);
  if (p50 === undefined || p95 === undefined) return undefined;
  const room = sorted.length < fewStarts ? Math.ceil(p50 * roomWithFewStarts) : p50;
  return { p50, p95: Math.max(p95, room) };
}

/** Nearest rank: always one of the values. */
function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
