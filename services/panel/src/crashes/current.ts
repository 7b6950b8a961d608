// Which crash a server's overview still speaks of. Pure.

import type { Output } from "../api/operations.ts";

export type Crash = Output<"crashes.list">["crashes"][number];

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The newest one: for an hour once the server runs again, else for a day. */
export function currentCrash(crashes: readonly Crash[], phase: string, now: number): Crash | undefined {
  const [newest] = crashes;
  if (!newest) return undefined;
  return now - Date.parse(newest.at) < (phase === "Running" ? hourMs : dayMs) ? newest : undefined;
}
