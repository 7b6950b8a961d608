import assert from "node:assert/strict";
import { test } from "node:test";
import { limits, readSettings } from "./config.ts";

test("limits are those of behaviour.md h.6 and h.7", () => {
  assert.deepEqual(limits, {
    stallMs: 120_000,
    keptMs: 600_000,
    listEntries: 5_000,
    readBytes: 1_048_576,
    progressEveryMs: 1_000,
  });
});

test("content comes in parts, in their order", () => {
  const env = {
    SVC_TASK: JSON.stringify({ mode: "mkdir", path: "a" }),
    SVC_TASK_CONTENT_0: Buffer.from("one ").toString("base64"),
    SVC_TASK_CONTENT_1: Buffer.from("two").toString("base64"),
    SVC_TASK_CONTENT_3: "lost",
  };
  assert.equal(readSettings([], env).content().toString(), "one two");
});

test("a Job without a task, or with one that nobody knows, fails", () => {
  assert.throws(() => readSettings([], {}), /SVC_TASK is missing/);
  assert.throws(() => readSettings([], { SVC_TASK: '{"mode":"format"}' }));
});
