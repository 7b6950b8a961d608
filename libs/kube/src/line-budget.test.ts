import assert from "node:assert/strict";
import { test } from "node:test";
import { createLineBudget } from "./line-budget.ts";

test("a burst passes, then as many lines as the average allows", () => {
  const budget = createLineBudget({ perSecond: 10, burst: 5 });
  const passed = (times: number, at: number) =>
    Array.from({ length: times }, () => budget.take(10, at)).filter(Boolean).length;
  assert.equal(passed(20, 0), 5);
  assert.equal(passed(20, 100), 1);
  assert.equal(passed(20, 300), 2);
  assert.equal(passed(20, 60_000), 5);
});

test("a long line counts as several", () => {
  const budget = createLineBudget({ perSecond: 10, burst: 5 });
  assert.equal(budget.take(256 * 4, 0), true);
  assert.equal(budget.take(257, 0), false);
  assert.equal(budget.take(256, 0), true);
});

test("refused lines are reported once, when lines pass again", () => {
  const budget = createLineBudget({ perSecond: 10, burst: 5 });
  for (let count = 0; count < 9; count++) budget.take(1, 0);
  assert.equal(budget.refused(10), 0);
  assert.equal(budget.refused(500), 4);
  assert.equal(budget.refused(500), 0);
});

test("a clock that goes back adds nothing to the budget", () => {
  const budget = createLineBudget({ perSecond: 10, burst: 1 });
  assert.equal(budget.take(1, 1_000), true);
  assert.equal(budget.take(1, 0), false);
  assert.equal(budget.take(1, 1_000), false);
});
