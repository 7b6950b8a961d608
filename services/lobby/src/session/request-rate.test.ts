import assert from "node:assert/strict";
import { test } from "node:test";
import { fullBucket, type TokenBucket, takeTokens } from "@svc/service/token-bucket";
import { requestRate as rules } from "../config.ts";

function takeAll(bucket: TokenBucket, rate: typeof rules, now = 0): number {
  let count = 0;
  while (takeTokens(bucket, rate, now) === 0) count++;
  return count;
}
const forClicks = { ...rules, reserved: 0 };

test("requests leave room for clicks, and both stay below the proxy's burst of 96", () => {
  const bucket = fullBucket(rules, 0);
  assert.equal(takeAll(bucket, rules), rules.burst - rules.reserved);
  assert.equal(takeAll(bucket, forClicks), rules.reserved);
  assert.ok(rules.burst < 96);
});

test("a page of 45 tiles is asked for at once", () => {
  assert.ok(takeAll(fullBucket(rules, 0), rules) >= 46);
});

test("tokens come back at less than the proxy's 10 a second", () => {
  const bucket = fullBucket(rules, 0);
  takeAll(bucket, forClicks);
  assert.equal(takeAll(bucket, forClicks, 1_000), rules.perSecond);
  assert.ok(rules.perSecond < 10);
});
