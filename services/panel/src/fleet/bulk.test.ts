import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../api/error.ts";
import {
  aborted,
  atOnce,
  type BulkRun,
  beginNext,
  countsOf,
  inOrder,
  isOver,
  newRun,
  withAnswer,
  withRetry,
} from "./bulk.ts";

const names = Array.from({ length: atOnce + 2 }, (_, n) => `srv-${n}`);
const refusal = new ApiError({ status: 409, code: "at_capacity", message: "at capacity" });
const begun = () => beginNext(newRun({ kind: "stop" }, names)).run;
const statesOf = ({ rows }: BulkRun) => rows.map(({ state }) => state);

test("no more rows run at once than allowed", () => {
  const first = beginNext(newRun({ kind: "stop" }, names));
  assert.deepEqual(first.begun, names.slice(0, atOnce));
  assert.deepEqual(beginNext(first.run).begun, []);
  const second = beginNext(withAnswer(first.run, "srv-0"));
  assert.deepEqual(second.begun, [`srv-${atOnce}`]);
  assert.equal(countsOf(second.run).running, atOnce);
});

test("a name that was given twice is one row", () => {
  assert.equal(newRun({ kind: "wake" }, ["a", "b", "a"]).rows.length, 2);
});

test("a row keeps the reason for which it failed, and comes first", () => {
  const run = withAnswer(begun(), "srv-1", refusal);
  assert.deepEqual(inOrder(run)[0], { name: "srv-1", state: "failed", error: refusal });
});

test("an answer counts once, and only for a row that runs", () => {
  const run = withAnswer(withAnswer(begun(), "srv-0"), "srv-0", refusal);
  assert.equal(run.rows[0]?.state, "done");
  assert.equal(withAnswer(begun(), "srv-5", refusal).rows[5]?.state, "waiting");
});

test("a run that was aborted begins nothing more and ends with what runs", () => {
  let run = aborted(begun());
  assert.deepEqual(beginNext(run).begun, []);
  assert.ok(!isOver(run));
  for (const name of names.slice(0, atOnce)) run = withAnswer(run, name);
  assert.ok(isOver(run));
  assert.deepEqual(statesOf(run).slice(-2), ["skipped", "skipped"]);
});

test("a retry takes what failed and what was left out, and nothing that was done", () => {
  const failed = withAnswer(withAnswer(begun(), "srv-0"), "srv-1", refusal);
  const run = withRetry(aborted(failed));
  assert.equal(run.rows[0]?.state, "done");
  assert.deepEqual(run.rows[1], { name: "srv-1", state: "waiting" });
  assert.equal(countsOf(run).waiting, 3);
  assert.equal(run.isAborted, false);
});

test("a run of no servers is over", () => assert.ok(isOver(newRun({ kind: "stop" }, []))));
