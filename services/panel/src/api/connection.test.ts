import assert from "node:assert/strict";
import { test } from "node:test";
import { ageOf } from "./connection.ts";
import { offlineError } from "./error.ts";

const reading = (dataUpdatedAt: number, about: { failed?: boolean; paused?: boolean } = {}) => ({
  state: {
    dataUpdatedAt,
    error: null,
    fetchFailureReason: about.failed === true ? offlineError() : null,
    fetchStatus: about.paused === true ? ("paused" as const) : ("idle" as const),
  },
});

test("what is on screen is as old as the oldest data that could not be read again", () => {
  assert.equal(ageOf([reading(50), reading(300, { failed: true }), reading(200, { paused: true })]), 200);
});

test("before anything was asked for again it is as old as the newest answer", () => {
  assert.equal(ageOf([reading(50), reading(300)]), 300);
});

test("what was never read has no age", () => {
  assert.equal(ageOf([]), 0);
  assert.equal(ageOf([reading(0, { failed: true })]), 0);
});
