// A backup of a server that is awake: it is stopped, backed up and, if wanted, started again. Pure.

import type { Job } from "../jobs/job.ts";

export type BackupRun = {
  /** `asking`: the backup was asked for, its answer is on its way. */
  stage: "stopping" | "asking" | "backing-up" | "starting";
  startsAgain: boolean;
  /** Jobs that were there before the one of this backup. */
  known: readonly string[];
};

type Facts = { isAsleep: boolean; jobs: readonly Job[] };

/** What comes next; `wait` while it is not time yet. */
export function nextStep(run: BackupRun, { isAsleep, jobs }: Facts): "wait" | "back-up" | "start" | "end" {
  if (run.stage === "stopping") return isAsleep ? "back-up" : "wait";
  if (run.stage !== "backing-up") return "wait";
  const job = jobs.find(({ kind, name }) => kind === "backup" && !run.known.includes(name));
  if (!job || job.state === "running") return "wait";
  // Players come back whether the backup was made or not; its end is said either way.
  return run.startsAgain && isAsleep ? "start" : "end";
}
