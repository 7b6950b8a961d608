// What is known of a row's Job, and what follows (docs/glossary.md: observe, decide, act). Pure.
//
// starting -> running      its Job is there
//          -> failed       no Job came for the length of `start_patience`
// running  -> succeeded    the Job told its result
//          -> failed       the task refused, or a restore ended without a word
//          -> (recovery)   a backup ended without a word: its archive may be there, so somebody looks for it
// recovery -> succeeded    the archive is there and whole
//          -> failed       with the message of the Job that was lost

import type { JobRow } from "../database/tables.ts";

export type ObservedJob = {
  row: Pick<JobRow, "state" | "kind" | "recovery" | "started_at" | "archive">;
  job: "missing" | "active" | "finished";
  recovery: "missing" | "active" | "finished";
  now: number;
  startPatienceMs: number;
};

export type JobPlan =
  | "wait"
  | "mark-running"
  | "never-started"
  | "read"
  | "recover"
  | "read-recovery"
  | "lost";

export function decideJob({ row, job, recovery, now, startPatienceMs }: ObservedJob): JobPlan {
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
