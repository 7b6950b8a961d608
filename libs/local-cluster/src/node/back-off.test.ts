import assert from "node:assert/strict";
import { test } from "node:test";
import { createBackOff } from "./back-off.ts";

test("the first restart is immediate, then the wait doubles up to five minutes", () => {
  const backOff = createBackOff(10_000);
  const waits = Array.from({ length: 8 }, () => backOff.nextMs(0));
  assert.deepEqual(waits, [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

test("ten minutes of running reset the wait", () => {
  const backOff = createBackOff(10_000);
  for (let restart = 0; restart < 4; restart += 1) backOff.nextMs(0);
  assert.equal(backOff.nextMs(600_000), 0);
  assert.equal(backOff.nextMs(599_999), 10_000);
});
