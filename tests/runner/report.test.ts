import assert from "node:assert/strict";
import { test } from "node:test";
import { type Ended, endOfRun, isGreen } from "./report.ts";

const batch = (tests: number, problem?: string): Ended => ({
  batch: ["a.test.ts"],
  seconds: 1,
  problem,
  counts: { tests, passed: tests },
});

test("a run is green when tests ran and none failed", () => {
  assert.equal(isGreen([batch(2), batch(0)]), true);
  assert.equal(isGreen([batch(2), batch(1, "ended with 1")]), false);
});

test("a run in which no test ran failed, and says why", () => {
  assert.equal(isGreen([batch(0), batch(0)]), false);
  assert.match(endOfRun([batch(0)], 1), /FAILED: no test ran/);
  assert.doesNotMatch(endOfRun([batch(1)], 1), /FAILED/);
});
