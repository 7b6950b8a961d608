import assert from "node:assert/strict";
import { test } from "node:test";
import type { settings } from "@svc/proto";
import { withoutClosedPaths } from "./activity-paths.ts";

const mayRead = (path: string) => path.startsWith("plugins/");
type By = settings.ActivityEntry["by"];
const rows: [fact: string, action: string, payload: object, shown: object, by?: By][] = [
  ["a path that is closed", "file.write", { path: "ops.json", op: "o" }, { op: "o" }],
  ["one that is open", "file.write", { path: "plugins/a.yml" }, { path: "plugins/a.yml" }],
  ["a rename out of what is open", "file.rename", { path: "plugins/a", to: "b" }, { path: "plugins/a" }],
  ["a rename into it", "file.rename", { path: "b", to: "plugins/a" }, { to: "plugins/a" }],
  ["a restore of some files", "backup.restore", { only: ["plugins/a", "world"] }, { only: ["plugins/a"] }],
  ["a restore of closed files", "backup.restore", { only: ["world"], backup_id: "b" }, { backup_id: "b" }],
  ["a move to another node", "world.migrated", { from: "a", to: "b" }, { from: "a", to: "b" }],
  ["something without a path", "server.stop", { reason: "r" }, { reason: "r" }],
  ["what the reader did", "file.write", { path: "ops.json" }, { path: "ops.json" }, "you"],
];
for (const [fact, action, payload, shown, by = "account"] of rows)
  test(`of ${fact} the activity shows what may be read`, () => {
    const entry = { id: 1, at: "2026-01-01T00:00:00.000Z", action, by, payload: { ...payload } };
    assert.deepEqual(withoutClosedPaths(entry, mayRead).payload, shown);
  });
