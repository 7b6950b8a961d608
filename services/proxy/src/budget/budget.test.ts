import assert from "node:assert/strict";
import { test } from "node:test";
import { createBudget } from "./budget.ts";

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

test("a player who reconnects keeps the budget as it was", () => {
  const budget = createBudget(rate, () => 0);
  for (let index = 0; index < 5; index += 1) budget.spend("alice");
  budget.forget("alice");
  budget.forget("bob");
  assert.equal(budget.spend("alice"), 5_000);
});
