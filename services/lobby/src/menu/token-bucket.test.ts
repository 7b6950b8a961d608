import assert from "node:assert/strict";
import { test } from "node:test";
import { requestRate as rules } from "../config.ts";
import { fullBucket, spend, type TokenBucket } from "./token-bucket.ts";

function spendAll(
  start: TokenBucket,
  now: number,
  isQuestion: boolean,
): { count: number; pace: TokenBucket } {
  let pace = start;
  for (let count = 0; ; count++) {
    const left = spend(pace, { now, rules, isQuestion });
    if (!left) return { count, pace };
    pace = left;
  }
}

test("requests leave room for clicks, and both stay below the proxy's burst of 96", () => {
  const asked = spendAll(fullBucket(rules, 0), 0, true);
  assert.equal(asked.count, rules.burst - rules.reserved);
  assert.equal(spendAll(asked.pace, 0, false).count, rules.reserved);
  assert.ok(rules.burst < 96);
});

test("a page of 45 tiles is asked for at once", () => {
  assert.ok(spendAll(fullBucket(rules, 0), 0, true).count >= 46);
});

test("tokens come back at less than the proxy's 10 a second, up to the burst", () => {
  const { pace } = spendAll(fullBucket(rules, 0), 0, false);
  assert.equal(spendAll(pace, 1_000, false).count, rules.perSecond);
  assert.ok(rules.perSecond < 10);
  assert.equal(spendAll(pace, 3_600_000, false).count, rules.burst);
});

test("a clock that steps back gives nothing and takes nothing", () => {
  const pace = { tokens: 5, at: 10_000 };
  assert.equal(spend(pace, { now: 0, rules, isQuestion: false })?.tokens, 4);
});
