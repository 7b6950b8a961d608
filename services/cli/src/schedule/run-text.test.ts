import assert from "node:assert/strict";
import { test } from "node:test";
import { runText, stateOf } from "./run-text.ts";

test("a run says in words where it is", () => {
  assert.equal(stateOf({ run_state: "" }), "");
  assert.equal(stateOf({ run_state: "claimed" }), "running");
  assert.equal(stateOf({ run_state: "backing_up" }), "backing up");
  assert.equal(stateOf({ run_state: "dancing" as never }), "dancing");
  const waits_until = "2026-01-01T00:00:00.000Z";
  assert.equal(stateOf({ run_state: "claimed", waits_until }), "waiting until 2026-01-01T00:00:00Z");
});

test("a task that was run by hand says how it ended, or where that will be seen", () => {
  const run = { run_state: "", last_result: "ok", last_detail: "" } as const;
  assert.equal(runText(run, "survival"), "ok");
  assert.equal(
    runText({ ...run, last_result: "skipped", last_detail: "nobody is on" }, "a"),
    "skipped nobody is on",
  );
  const begun = { ...run, run_state: "backing_up" } as const;
  assert.equal(
    runText(begun, "survival"),
    "backing up; how it ends is listed by: `svc schedule list survival`",
  );
});
