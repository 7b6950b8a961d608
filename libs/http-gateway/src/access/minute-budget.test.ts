import assert from "node:assert/strict";
import { test } from "node:test";
import { createMinuteBudget } from "./minute-budget.ts";

test("an address has its share at once, one more with each part of the minute, and no more than its share", () => {
  let now = 1_000_000;
  const budget = createMinuteBudget(60, () => now);
  const spend = () => {
    let count = 0;
    for (; budget.blockedSeconds("a") === 0; count += 1) budget.count("a");
    return count;
  };
  assert.equal(spend(), 60);
  assert.equal(budget.blockedSeconds("a"), 1);
  assert.equal(budget.blockedSeconds("b"), 0);
  now += 1_000;
  assert.equal(spend(), 1);
  now += 3_600_000;
  assert.equal(spend(), 60);
});

test("a flood from many addresses is forgotten in the order in which it came", () => {
  const budget = createMinuteBudget(1, () => 0);
  for (let n = 0; n <= 20_000; n += 1) budget.count(`address-${n}`);
  assert.equal(budget.blockedSeconds("address-0"), 0);
  assert.equal(budget.blockedSeconds("address-20000"), 60);
});
