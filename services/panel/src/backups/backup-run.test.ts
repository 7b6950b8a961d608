import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../jobs/job.ts";
import { type BackupRun, nextStep } from "./backup-run.ts";

const job = (name: string, state: Job["state"], kind: Job["kind"] = "backup"): Job => ({ name, kind, state });
const run = (stage: BackupRun["stage"], startsAgain = true): BackupRun => ({
  stage,
  startsAgain,
  known: ["old"],
});
const asleep = (...jobs: Job[]) => ({ isAsleep: true, jobs });
const awake = (...jobs: Job[]) => ({ isAsleep: false, jobs });

const cases: Readonly<Record<string, [run: BackupRun, facts: ReturnType<typeof asleep>, next: string]>> = {
  "it stops": [run("stopping"), awake(), "wait"],
  "it has come to rest": [run("stopping"), asleep(), "back-up"],
  "the backup is being asked for": [run("asking"), asleep(job("old", "succeeded")), "wait"],
  "its Job is not listed yet": [run("backing-up"), asleep(job("old", "succeeded")), "wait"],
  "a download is none of it": [run("backing-up"), asleep(job("new", "succeeded", "export_world")), "wait"],
  "its Job runs": [run("backing-up"), asleep(job("new", "running"), job("old", "succeeded")), "wait"],
  "the backup is made": [run("backing-up"), asleep(job("new", "succeeded")), "start"],
  "the backup has failed": [run("backing-up"), asleep(job("new", "failed")), "start"],
  "it is to stay asleep": [run("backing-up", false), asleep(job("new", "succeeded")), "end"],
  "somebody has started it": [run("backing-up"), awake(job("new", "succeeded")), "end"],
  "it is being started": [run("starting"), asleep(job("new", "succeeded")), "wait"],
};
for (const [what, [given, facts, next]] of Object.entries(cases)) {
  test(`${what}: ${next}`, () => assert.equal(nextStep(given, facts), next));
}
