import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideJob, type JobPlan, type ObservedJob } from "./decide.ts";

const at = new Date("2026-01-01T00:00:00Z");

type Change = Partial<Omit<ObservedJob, "row">> & { row?: Partial<ObservedJob["row"]>; ageMs?: number };

function look({ row, ageMs = 0, ...change }: Change): ObservedJob {
  return {
    row: { state: "running", kind: "backup", recovery: null, started_at: at, archive: "a-1.tar.zst", ...row },
    job: "active",
    recovery: "missing",
    now: at.getTime() + ageMs,
    startPatienceMs: 120_000,
    ...change,
  };
}

describe("what follows from a row and its Job", () => {
  const starting = { state: "starting" } as const;
  const restore = { kind: "restore" } as const;
  const recovering = { recovery: "verify-a-1" };
  const table: [string, Change, JobPlan][] = [
    ["a running Job is waited for", {}, "wait"],
    ["a Job that exists sets its row to running", { row: starting }, "mark-running"],
    [
      "a Job that does not exist yet is waited for",
      { row: starting, job: "missing", ageMs: 120_000 },
      "wait",
    ],
    [
      "a row whose Job was never created fails",
      { row: starting, job: "missing", ageMs: 120_001 },
      "never-started",
    ],
    [
      "the result of a Job that ended before its row was running is read",
      { row: starting, job: "finished" },
      "read",
    ],
    ["the result of an ended Job is read", { job: "finished" }, "read"],
    ["when the Job of a backup vanished, a check for its archive starts", { job: "missing" }, "recover"],
    ["a restore whose Job vanished fails", { row: restore, job: "missing" }, "lost"],
    ["a running check for the archive is waited for", { row: recovering, recovery: "active" }, "wait"],
    ["the result of the check is read", { row: recovering, recovery: "finished" }, "read-recovery"],
    ["a check that vanished is started again", { row: recovering, recovery: "missing" }, "recover"],
    [
      "a Job that appears late does not end a check",
      { row: recovering, recovery: "active", job: "finished" },
      "wait",
    ],
  ];
  for (const [name, change, step] of table) test(name, () => assert.equal(decideJob(look(change)), step));
});
