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

test("keys that keep changing take bounded memory, and buckets that are full again none", () => {
  let now = 0;
  const budget = createBudget(rate, () => now);
  for (let index = 0; index < 70_000; index++) budget.spend(String(index));
  assert.equal(budget.size(), 65_536);
  now = 25_000;
  budget.spend("alice");
  assert.equal(budget.size(), 1);
});
