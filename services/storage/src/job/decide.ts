// What a row's Job has become, and the next step (docs/glossary.md: observe, decide, act). Pure.
//
// starting -> running      its Job exists
//          -> failed       no Job was created within `start_patience`
// running  -> succeeded    the Job has a result
//          -> failed       the task failed, or a restore ended without a result
//          -> (recovery)   a backup ended without a result: another Job checks whether its archive exists
// recovery -> succeeded    the archive exists and is complete
//          -> failed       with the message of the lost Job

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
