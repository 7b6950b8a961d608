import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideEnd, decideJob, type EndPlan, type Observed, type Plan } from "./decide.ts";
import type { Outcome } from "./outcome.ts";

const at = new Date("2026-01-01T00:00:00Z");

type Change = Partial<Omit<Observed, "row">> & { row?: Partial<Observed["row"]>; ageMs?: number };

function observed({ row, ageMs = 0, ...change }: Change): Observed {
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
  const table: [string, Change, Plan][] = [
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
  for (const [name, change, plan] of table) test(name, () => assert.equal(decideJob(observed(change)), plan));
});

describe("what the end of a Job means for its row", () => {
  const backup = { kind: "backup", recovery: null, message: "" } as const;
  const restore = { ...backup, kind: "restore" } as const;
  const checked = { ...backup, recovery: "verify-a-1", message: "the job exceeded its deadline" } as const;
  const done = { sha256: "00", size_bytes: 1 };
  const fault = { code: "volume_full", message: "The volume is full." } as const;
  const finished: Outcome = { kind: "done", done };
  const refused: Outcome = { kind: "refused", fault };
  const broken: Outcome = { kind: "broken", message: "killed" };
  const table: [string, Parameters<typeof decideEnd>[0], Outcome, EndPlan][] = [
    ["a backup that was made is recorded", backup, finished, { action: "record-backup", done }],
    ["a restore that was made is recorded", restore, finished, { action: "succeed" }],
    ["a backup that was refused fails", backup, refused, { action: "fail", failure: fault }],
    ["a restore that was refused fails", restore, refused, { action: "fail", failure: fault }],
    [
      "a backup without a result is looked for in the archive folder",
      backup,
      broken,
      { action: "recover", message: "killed" },
    ],
    ["a restore without a result fails", restore, broken, { action: "fail", failure: "killed" }],
    ["a complete archive is the backup", checked, finished, { action: "record-backup", done }],
    [
      "an incomplete archive fails with the message of the lost Job",
      checked,
      refused,
      { action: "fail", failure: "the job exceeded its deadline" },
    ],
    [
      "a check without a result fails with the message of the lost Job",
      checked,
      broken,
      { action: "fail", failure: "the job exceeded its deadline" },
    ],
  ];
  for (const [name, row, outcome, plan] of table)
    test(name, () => assert.deepEqual(decideEnd(row, outcome), plan));
});
