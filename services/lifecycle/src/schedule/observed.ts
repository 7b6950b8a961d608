// Everything that a decision about one task may know. Pure; observe.ts reads it.

import type { Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import type { ScheduleRow } from "./row.ts";

export type Observed = {
  row: ScheduleRow;
  /** The server's current owner; undefined when the server is deleted. */
  owner: string | null | undefined;
  /** When somebody joined the server last. */
  lastPlayedAt: Date | undefined;
  server: Server | undefined;
  now: number;
  settings: LifecycleSettings;
};

/** Whether the run has been in its state for longer than `limitMs`. */
export function isOver({ row, now }: Pick<Observed, "row" | "now">, limitMs: number): boolean {
  return now - (row.run_step_at?.getTime() ?? now) > limitMs;
}

/** Names one step of one run of one task, the same for every replica and after every restart. */
export function runKeyOf({
  id,
  last_run_at,
  run_step,
}: Pick<ScheduleRow, "id" | "last_run_at" | "run_step">): string {
  const run = `schedule-${id}-${last_run_at?.getTime() ?? 0}`;
  return run_step === 0 ? run : `${run}-${run_step}`;
}
