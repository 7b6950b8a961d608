import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BackupRow } from "../database/tables.ts";
import type { JobState } from "../job/outcome.ts";
import { type Agreed, decideMove, type Ends, type Observed, type Plan } from "./decide.ts";

const agreed: Agreed = {
  source_node: "node-a",
  source_claim: "world-survival",
  source_claim_uid: "uid-1",
  target_node: "node-b",
};
const quiet: Ends = {
  world: { stopped: true, volume_claim: "world-survival" },
  holdsLock: true,
  canTargetTakeWorlds: true,
  source: { uid: "uid-1", node: "node-a", isOnline: true },
};
const receipt = { archive: "survival-1.tar.zst", size_bytes: 10, sha256: "0".repeat(64) };
const backup = { id: "bk-1", corrupt_at: null } as BackupRow;
const done = (about: Record<string, unknown> = {}): JobState => ({
  kind: "done",
  done: { mode: "backup", ...about } as never,
});
const broken: JobState = { kind: "broken", message: "the pod was evicted" };
const refused: JobState = { kind: "refused", fault: { message: "the disk is full" } as never };
const patienceMs = 60_000;

const backingUp = (about: Partial<Extract<Observed, { step: "backing_up" }>>): Observed => ({
  step: "backing_up",
  ends: quiet,
  job: "none",
  receipt: undefined,
  ...about,
});
const restoring = (about: Partial<Extract<Observed, { step: "restoring" }>>): Observed => ({
  step: "restoring",
  ends: quiet,
  job: "none",
  backup,
  ...about,
});
const fails = (message: string): Plan => ({ action: "fail", message });

const table: readonly (readonly [sentence: string, observed: Observed, plan: Plan])[] = [
  [
    "a starting move whose lock is set proceeds",
    { step: "locking", holdsLock: true, ageMs: patienceMs + 1 },
    { action: "note-lock" },
  ],
  [
    "a starting move whose lock is not set yet waits",
    { step: "locking", holdsLock: false, ageMs: patienceMs },
    { action: "wait" },
  ],
  [
    "a starting move that never got its lock is deleted",
    { step: "locking", holdsLock: false, ageMs: patienceMs + 1 },
    { action: "delete-unlocked" },
  ],
  ["without a Job and a receipt the archive Job is created", backingUp({}), { action: "start-backup" }],
  ["a running Job is waited for", backingUp({ job: "running" }), { action: "wait" }],
  [
    "a receipt does not end the wait for its Job: what the Job skipped is not known yet",
    backingUp({ job: "running", receipt }),
    { action: "wait" },
  ],
  [
    "a receipt whose Job is done is recorded with what it skipped",
    backingUp({ job: done({ skipped_entries: 3 }), receipt }),
    { action: "record-backup", receipt, skippedEntries: 3 },
  ],
  [
    "a receipt whose Job failed afterwards is recorded: the archive is complete",
    backingUp({ job: broken, receipt }),
    { action: "record-backup", receipt, skippedEntries: 0 },
  ],
  [
    "a receipt whose Job is gone is recorded, and no Job is created",
    backingUp({ receipt }),
    { action: "record-backup", receipt, skippedEntries: 0 },
  ],
  [
    "files that cannot be read stop the move, with their names",
    backingUp({ job: done({ unreadable_entries: 2, skipped_names: ["a", "b"] }), receipt }),
    fails("2 files of the world cannot be read: a, b"),
  ],
  [
    "a Job that succeeded without a receipt fails the move",
    backingUp({ job: done() }),
    fails("the archive did not arrive"),
  ],
  ["a failed Job fails the move with its reason", backingUp({ job: broken }), fails("the pod was evicted")],
  [
    "a Job that ended with a fault fails the move with that fault",
    backingUp({ job: refused }),
    fails("the disk is full"),
  ],
  [
    "without a Job the target volume is created and filled from the backup",
    restoring({}),
    { action: "prepare-target", restoreFrom: backup },
  ],
  [
    "while its Job runs the target volume is kept, and nothing is started twice",
    restoring({ job: "running" }),
    { action: "prepare-target", restoreFrom: undefined },
  ],
  [
    "the server is switched to a volume that was filled and compared",
    restoring({ job: done() }),
    { action: "advance" },
  ],
  ["a failed restore fails the move", restoring({ job: broken }), fails("the pod was evicted")],
  [
    "a move whose backup is gone fails, whatever the state of its Job",
    restoring({ backup: undefined, job: done() }),
    fails("the backup of this move is gone or corrupt"),
  ],
  [
    "a move whose backup is corrupt fails, whatever the state of its Job",
    restoring({ backup: { ...backup, corrupt_at: new Date(0) }, job: done() }),
    fails("the backup of this move is gone or corrupt"),
  ],
  [
    "the server is not switched while a Job of the move exists",
    { step: "switching", areJobsGone: false, targetNode: "node-b" },
    { action: "end-jobs" },
  ],
  [
    "the server is switched to the volume on the target",
    { step: "switching", areJobsGone: true, targetNode: "node-b" },
    { action: "switch" },
  ],
  [
    "the server is not switched to a volume on another node",
    { step: "switching", areJobsGone: true, targetNode: "node-c" },
    fails("the new volume is not on node-b"),
  ],
  [
    "the server is not switched to a volume that is gone",
    { step: "switching", areJobsGone: true, targetNode: undefined },
    fails("the new volume is not on node-b"),
  ],
];

const disturbances: readonly (readonly [ends: Partial<Ends>, message: string])[] = [
  [{ world: undefined }, "the server is gone"],
  [{ holdsLock: false }, "the lock of the move was removed"],
  [{ world: { stopped: false, volume_claim: "world-survival" } }, "the server was started"],
  [{ world: { stopped: true, volume_claim: "other" } }, "the server now uses another volume"],
  [{ canTargetTakeWorlds: false }, "the node node-b cannot take worlds at the moment"],
  [{ source: undefined }, "the world's volume was replaced"],
  [{ source: { uid: "uid-2", node: "node-a", isOnline: true } }, "the world's volume was replaced"],
  [{ source: { uid: "uid-1", node: "node-c", isOnline: true } }, "the world's volume was moved"],
  [{ source: { uid: "uid-1", node: undefined, isOnline: false } }, "the world's volume was moved"],
  [{ source: { uid: "uid-1", node: "node-a", isOnline: false } }, "the node node-a is offline"],
];

describe("the next step of a move", () => {
  for (const [sentence, observed, plan] of table) {
    test(sentence, () => assert.deepEqual(decideMove(observed, agreed, patienceMs), plan));
  }

  for (const [about, message] of disturbances) {
    test(`the copy stops at both ends when ${message}`, () => {
      const ends = { ...quiet, ...about };
      const looks = [
        backingUp({ ends, job: done(), receipt }),
        backingUp({ ends }),
        restoring({ ends, job: done() }),
        restoring({ ends }),
      ];
      for (const look of looks) assert.deepEqual(decideMove(look, agreed, patienceMs), fails(message));
    });
  }
});
