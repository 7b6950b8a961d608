import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideJob, type JobPlan, type ObservedJob } from "./policy.ts";

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
    ["a Job that works is waited for", {}, "wait"],
    ["a Job that is there makes its row running", { row: starting }, "mark-running"],
    ["a Job that is not there yet is waited for", { row: starting, job: "missing", ageMs: 120_000 }, "wait"],
    ["a Job that never came has failed", { row: starting, job: "missing", ageMs: 120_001 }, "never-started"],
    ["a Job that ended before its row knew is read", { row: starting, job: "finished" }, "read"],
    ["a Job that ended is read", { job: "finished" }, "read"],
    ["of a backup that vanished its archive is looked for", { job: "missing" }, "recover"],
    ["a restore that vanished has failed", { row: restore, job: "missing" }, "lost"],
    [
      "while somebody looks for the archive it is waited for",
      { row: recovering, recovery: "active" },
      "wait",
    ],
    ["what the look found is read", { row: recovering, recovery: "finished" }, "read-recovery"],
    ["a look that vanished is begun again", { row: recovering, recovery: "missing" }, "recover"],
    ["a late Job does not end a look", { row: recovering, recovery: "active", job: "finished" }, "wait"],
  ];
  for (const [name, change, step] of table) test(name, () => assert.equal(decideJob(look(change)), step));
});
