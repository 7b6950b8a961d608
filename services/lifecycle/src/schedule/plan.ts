import type { schedules } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import type { ScheduleRow } from "./row.ts";

/** All that a decision about one task may know. */
export type Observed = {
  row: ScheduleRow;
  /** The server's owner of now; undefined when the server is deleted. */
  owner: string | null | undefined;
  server: Server | undefined;
  now: number;
  settings: LifecycleSettings;
};

export type Result = Exclude<schedules.RunResult, "">;
export type Ending = { result: Result; detail: string };

/** What is to be done next about one task. */
export type Plan =
  | { kind: "rest" }
  | { kind: "disable"; detail: string }
  | { kind: "warn"; minutes: number }
  | { kind: "miss"; next: number; detail: string }
  | { kind: "claim"; next: number }
  | { kind: "command" }
  | { kind: "stop" }
  | { kind: "start" }
  | { kind: "ask-backup" }
  | { kind: "read-backup" }
  | {
      kind: "enter";
      state: "stopping" | "backing_up" | "starting";
      isResumed: boolean;
      /** Job of storage that is waited for. */
      job?: string;
      /** How the run will end once the server is started again. */
      carried?: Ending;
    }
  | ({ kind: "finish" } & Ending);

export const rest: Plan = { kind: "rest" };

export function finish(result: Result, detail = ""): Plan {
  return { kind: "finish", result, detail };
}

/** Ends a run, by way of starting the server again when the run stopped it. */
export function endWith({ row }: Pick<Observed, "row">, ending: Ending): Plan {
  if (!row.run_resume) return { kind: "finish", ...ending };
  return { kind: "enter", state: "starting", isResumed: true, carried: ending };
}

export function isOver({ row, now }: Pick<Observed, "row" | "now">, limitMs: number): boolean {
  return now - (row.run_step_at?.getTime() ?? now) > limitMs;
}

/** Names one run of one task, the same for every replica and after every restart. */
export function runKeyOf(row: Pick<ScheduleRow, "id" | "last_run_at">): string {
  return `schedule-${row.id}-${row.last_run_at?.getTime() ?? 0}`;
}
