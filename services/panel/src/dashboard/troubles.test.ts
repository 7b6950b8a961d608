import assert from "node:assert/strict";
import { test } from "node:test";
import { troublesOf } from "./troubles.ts";

const backup = (server_name: string, created_at: string, corrupt?: true) => ({
  server_name,
  created_at,
  ...(corrupt && { corrupt }),
});
const task = (label: string, last_result: "" | "ok" | "skipped" | "failed" | "missed", enabled = true) => ({
  server: "anvil",
  enabled,
  action: "backup" as const,
  label,
  last_result,
  last_run_at: "2026-03-01T03:00:00.000Z",
});

test("damaged backups are told once for each server, with the newest", () => {
  const backups = [
    backup("anvil", "2026-03-03T00:00:00.000Z"),
    backup("anvil", "2026-03-02T00:00:00.000Z", true),
    backup("anvil", "2026-03-01T00:00:00.000Z", true),
    backup("beacon", "2026-02-01T00:00:00.000Z", true),
  ];
  assert.deepEqual(troublesOf(backups, []), [
    { kind: "corrupt", server: "anvil", at: "2026-03-02T00:00:00.000Z", count: 2 },
    { kind: "corrupt", server: "beacon", at: "2026-02-01T00:00:00.000Z", count: 1 },
  ]);
});

test("a task is told of while its last run was missed or failed, and it is switched on", () => {
  const tasks = [
    task("new", ""),
    task("fine", "ok"),
    task("nobody was on", "skipped"),
    task("svc was down", "missed"),
    task("no room", "failed"),
    task("off", "missed", false),
  ];
  const told = troublesOf([], tasks).map((trouble) => ("task" in trouble ? trouble.task.label : ""));
  assert.deepEqual(told, ["svc was down", "no room"]);
});
