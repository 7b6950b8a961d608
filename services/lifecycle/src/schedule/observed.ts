// Everything that a decision about one task may know. Pure; observe.ts reads it.

import type { Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import type { ScheduleRow } from "./row.ts";

export type Observed = {
  row: ScheduleRow;
  /** The server's current owner; undefined when the server is deleted. */
  owner: string | null | undefined;
  server: Server | undefined;
  now: number;
  settings: LifecycleSettings;
};

/** Whether the run has been in its state for longer than `limitMs`. */
export function isOver({ row, now }: Pick<Observed, "row" | "now">, limitMs: number): boolean {
  return now - (row.run_step_at?.getTime() ?? now) > limitMs;
}

/** Names one run of one task, the same for every replica and after every restart. */
export function runKeyOf(row: Pick<ScheduleRow, "id" | "last_run_at">): string {
  return `schedule-${row.id}-${row.last_run_at?.getTime() ?? 0}`;
}
