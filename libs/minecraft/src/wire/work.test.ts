import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultWork, Work } from "./work.ts";

test("a connection may use its burst at once, pauses for its debt, and gets no more than its rate afterwards", () => {
  let now = 0;
  const work = new Work({ burst: 1_000, perSecond: 100 }, () => now);
  assert.equal(work.spend(400), 0);
  assert.equal(work.spend(600), 0);
  assert.equal(work.spend(50), 500);
  now = 500;
  assert.equal(work.spend(1), 10);
  now = 100_000;
  assert.equal(work.spend(1_000), 0);
  assert.equal(work.spend(10), 100);
  assert.equal(work.spent, 2_061);
});

test("by default a connection has a quarter of a GiB at once and 32 MiB a second", () => {
  assert.deepEqual(defaultWork, { burst: 2 ** 28, perSecond: 2 ** 25 });
});
