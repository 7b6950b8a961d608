// The next step of a row and its Job. Pure.
//
// starting -> running      its Job exists
//          -> failed       no Job was created within `start_patience`
// running  -> succeeded    the Job has a result
//          -> failed       the task failed, or a restore ended without a result
//          -> (recovery)   a backup ended without a result: another Job checks whether its archive exists
// recovery -> succeeded    the archive exists and is complete
//          -> failed       with the message of the lost Job

import type { TaskDone, TaskFault } from "@svc/proto/world-task";
import type { JobRow } from "../database/tables.ts";
import type { Outcome } from "./outcome.ts";

export type Observed = {
  row: Pick<JobRow, "state" | "kind" | "recovery" | "started_at" | "archive">;
  job: "missing" | "active" | "finished";
  recovery: "missing" | "active" | "finished";
  now: number;
  startPatienceMs: number;
};

export type Plan = "wait" | "mark-running" | "never-started" | "read" | "recover" | "read-recovery" | "lost";

export function decideJob({ row, job, recovery, now, startPatienceMs }: Observed): Plan {
  if (row.recovery !== null) {
    if (recovery === "missing") return "recover";
    return recovery === "finished" ? "read-recovery" : "wait";
  }
  if (job === "finished") return "read";
  if (job === "active") return row.state === "starting" ? "mark-running" : "wait";
  if (row.state === "starting") {
    return now - row.started_at.getTime() > startPatienceMs ? "never-started" : "wait";
  }
  return row.kind === "backup" ? "recover" : "lost";
}

export type EndPlan =
  | { readonly action: "record-backup"; readonly done: TaskDone }
  | { readonly action: "succeed" }
  | { readonly action: "fail"; readonly failure: string | TaskFault }
  /** Another Job checks whether the archive of the backup is complete. */
  | { readonly action: "recover"; readonly message: string };

type EndedRow = Pick<JobRow, "kind" | "recovery" | "message">;

/** What the end of a Job, or of the check after it, means for the row. */
export function decideEnd({ kind, recovery, message }: EndedRow, outcome: Outcome): EndPlan {
  if (recovery !== null) {
    if (outcome.kind === "done") return { action: "record-backup", done: outcome.done };
    return { action: "fail", failure: message };
  }
  if (outcome.kind === "refused") return { action: "fail", failure: outcome.fault };
  if (outcome.kind === "done")
    return kind === "backup" ? { action: "record-backup", done: outcome.done } : { action: "succeed" };
  const { message: failure } = outcome;
  return kind === "backup" ? { action: "recover", message: failure } : { action: "fail", failure };
}
