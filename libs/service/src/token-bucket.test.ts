import assert from "node:assert/strict";
import { test } from "node:test";
import { fullBucket, isFull, overdraw, takeTokens } from "./token-bucket.ts";

const rate = { burst: 5, perSecond: 0.2 };
function emptied() {
  const bucket = fullBucket(rate, 0);
  for (let index = 0; index < rate.burst; index++) assert.equal(takeTokens(bucket, rate, 0), 0);
  return bucket;
}

test("a burst is taken at once, and the next token says how long to wait", () => {
  const bucket = emptied();
  assert.equal(takeTokens(bucket, rate, 0), 5_000);
  assert.equal(takeTokens(bucket, rate, 4_000), 1_000);
  assert.equal(takeTokens(bucket, rate, 5_000), 0);
  assert.equal(takeTokens(bucket, rate, 5_000), 5_000);
});

test("fractions of a token add up to one", () => {
  const bucket = emptied();
  for (let now = 1_000; now < 5_000; now += 1_000) assert.ok(takeTokens(bucket, rate, now) > 0);
  assert.equal(takeTokens(bucket, rate, 5_000), 0);
});

test("a long pause restores no more than the burst", () => {
  const bucket = emptied();
  assert.ok(!isFull(bucket, rate, 24_999));
  assert.ok(isFull(bucket, rate, 25_000));
  const waits = Array.from({ length: 6 }, () => takeTokens(bucket, rate, 3_600_000));
  assert.deepEqual(waits, [0, 0, 0, 0, 0, 5_000]);
});

test("reserved tokens are left for takers who do not reserve any", () => {
  const bucket = fullBucket(rate, 0);
  const waits = Array.from({ length: 4 }, () => takeTokens(bucket, { ...rate, reserved: 2 }, 0));
  assert.deepEqual(waits, [0, 0, 0, 5_000]);
  assert.deepEqual([takeTokens(bucket, rate, 0), takeTokens(bucket, rate, 0)], [0, 0]);
});

test("a clock that is set back gives nothing and takes nothing", () => {
  const bucket = { left: 5, at: 10_000 };
  assert.equal(takeTokens(bucket, rate, 0), 0);
  assert.equal(bucket.left, 4);
  assert.equal(takeTokens(bucket, { ...rate, count: 5 }, 10_000), 5_000);
});

test("many tokens are taken at once or not at all", () => {
  const bucket = fullBucket(rate, 0);
  assert.equal(takeTokens(bucket, { ...rate, count: 6 }, 0), 5_000);
  assert.equal(takeTokens(bucket, { ...rate, count: 5 }, 0), 0);
});

test("an overdrawn bucket says how long its debt lasts, and gives nothing before", () => {
  const bucket = fullBucket(rate, 0);
  assert.equal(overdraw(bucket, { ...rate, count: 5 }, 0), 0);
  assert.equal(overdraw(bucket, { ...rate, count: 2 }, 0), 10_000);
  assert.equal(takeTokens(bucket, rate, 10_000), 5_000);
  assert.equal(takeTokens(bucket, rate, 15_000), 0);
});
