import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "../job/outcome.ts";
import { endingOf } from "./change.ts";

const file = { path: "plugins/New.jar", size: 3, mod_time: "2026-01-01T00:00:00.000Z" };
const cases: [fact: string, outcome: Outcome, ending: ReturnType<typeof endingOf>][] = [
  ["a change that was made", { kind: "done", done: {} }, { outcome: "done" }],
  [
    "a text that was replaced",
    { kind: "done", done: { previous: "YQ==" } },
    { outcome: "done", previous: "YQ==" },
  ],
  ["files that were set aside", { kind: "done", done: { changed: [file] } }, { outcome: "done" }],
  [
    "nothing to set aside",
    { kind: "done", done: { changed: [] } },
    { outcome: "failed", error: "nothing_changed" },
  ],
  [
    "a refusal of the task",
    { kind: "refused", fault: { code: "file_exists", message: "it exists" } },
    { outcome: "failed", error: "file_exists" },
  ],
  [
    "a Job that was killed",
    { kind: "broken", message: "it was killed" },
    { outcome: "unknown", error: "it was killed" },
  ],
];
for (const [fact, outcome, ending] of cases)
  test(`the audit log tells of ${fact}`, () => assert.deepEqual(endingOf(outcome), ending));
