import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideAfterSnapshot, type Observed, type Plan } from "./decide.ts";

const ready: Observed = {
  snapshot: "succeeded",
  isSnapshotWhole: true,
  isHeld: true,
  hasRestore: false,
  isConfigured: true,
  server: "stopped",
  isSameOwner: true,
  isBackupUsable: true,
};

describe("what follows a safety snapshot", () => {
  const table: [string, Partial<Observed>, Plan][] = [
    ["the restore, when the snapshot is present", {}, "start"],
    ["nothing while it runs", { snapshot: "running" }, "wait"],
    ["no restore without a snapshot", { snapshot: "failed" }, { abandon: "snapshot_failed" }],
    [
      "no restore when files of the world could not be read",
      { isSnapshotWhole: false },
      { abandon: "snapshot_failed" },
    ],
    ["no restore without an agent", { isConfigured: false }, { abandon: "not_configured" }],
    ["no restore of a server that is gone", { server: "gone" }, { abandon: "server_gone" }],
    ["no restore under a server that runs", { server: "started" }, { abandon: "server_started" }],
    [
      "no restore into a server that has another owner now",
      { isSameOwner: false },
      { abandon: "server_gone" },
    ],
    ["no restore when the lock was lost", { isHeld: false }, { abandon: "restore_busy" }],
    ["no restore of a backup that is gone", { isBackupUsable: false }, { abandon: "restore_busy" }],
    [
      "a restore that has started is not undone",
      { hasRestore: true, server: "gone", isHeld: false },
      "start",
    ],
  ];
  for (const [name, change, plan] of table) {
    test(name, () => assert.deepEqual(decideAfterSnapshot({ ...ready, ...change }), plan));
  }
});
