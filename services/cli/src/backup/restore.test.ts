import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { backups } from "@svc/proto";
import { restoreEnd } from "./commands.ts";

type Job = backups.WorldJob;
const job = (name: string, about: Partial<Job> = {}): Job => ({
  name,
  kind: "backup",
  state: "succeeded",
  ...about,
});
const snapshot = (about: Partial<Job> = {}) =>
  job("backup-1", { restore_backup_id: "bk-1", then_restore: "started", ...about });
const restored = (about: Partial<Job> = {}) =>
  job("restore-1", { kind: "restore", restore_backup_id: "bk-1", ...about });
const later = job("backup-2", { state: "running", scheduled: true });

describe("how a restore ended, told from a server's jobs, the newest first", () => {
  const rows: [fact: string, jobs: Job[], name: string | undefined][] = [
    [
      "nothing while its snapshot is made",
      [snapshot({ state: "running", then_restore: "pending" })],
      undefined,
    ],
    ["nothing between snapshot and restore", [snapshot({ then_restore: "pending" })], undefined],
    ["nothing while it runs", [restored({ state: "running" }), snapshot()], undefined],
    ["it, when it is done", [restored(), snapshot()], "restore-1"],
    ["it, whatever else was begun since", [later, restored(), snapshot()], "restore-1"],
    ["it, when it failed", [later, restored({ state: "failed" }), snapshot()], "restore-1"],
    ["its snapshot, when it was abandoned", [later, snapshot({ then_restore: "abandoned" })], "backup-1"],
    ["not one of another backup", [restored({ restore_backup_id: "bk-2" })], undefined],
  ];
  for (const [fact, jobs, name] of rows) test(fact, () => assert.equal(restoreEnd(jobs, "bk-1")?.name, name));
});
