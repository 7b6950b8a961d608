import type { Output } from "../api/operations.ts";

export type Job = Output<"backups.listJobs">["jobs"][number];

/** The Job that works on the world now. */
export function runningJob(jobs: readonly Job[]): Job | undefined {
  return jobs.find(({ state }) => state === "running");
}
