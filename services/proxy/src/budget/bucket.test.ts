import assert from "node:assert/strict";
import { test } from "node:test";
import { createBudget } from "./bucket.ts";

const rate = { burst: 5, everyMs: 5_000 };

test("five commands run at once, the sixth waits five seconds, and each player has a separate budget", () => {
  let now = 0;
  const budget = createBudget(rate, () => now);
  for (let index = 0; index < 5; index += 1) assert.equal(budget.spend("alice"), 0);
  assert.equal(budget.spend("alice"), 5_000);
  assert.equal(budget.spend("bob"), 0);
  now = 4_000;
  assert.equal(budget.spend("alice"), 1_000);
  now = 5_000;
  assert.equal(budget.spend("alice"), 0);
  assert.equal(budget.spend("alice"), 5_000);
});

test("a long pause restores no more than the burst", () => {
  let now = 0;
  const budget = createBudget(rate, () => now);
  budget.spend("alice");
  now = 3_600_000;
  const spent = Array.from({ length: 6 }, () => budget.spend("alice"));
  assert.deepEqual(spent, [0, 0, 0, 0, 0, 5_000]);
});

test("a player who reconnects keeps the budget as it was", () => {
  const budget = createBudget(rate, () => 0);
  for (let index = 0; index < 5; index += 1) budget.spend("alice");
  budget.forget("alice");
  budget.forget("bob");
  assert.equal(budget.spend("alice"), 5_000);
});

test("a clock that goes back gives nothing and breaks nothing", () => {
  let now = 10_000;
  const budget = createBudget(rate, () => now);
  for (let index = 0; index < 5; index += 1) budget.spend("alice");
  now = 0;
  assert.equal(budget.spend("alice"), 5_000);
});
