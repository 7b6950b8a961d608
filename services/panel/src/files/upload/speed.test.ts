import assert from "node:assert/strict";
import { test } from "node:test";
import { addSample, type Sample, speedOf } from "./speed.ts";

test("the speed is that of the last seconds of one file", () => {
  let samples: Sample[] = [];
  const add = (at: number, bytes: number, id = "a") => {
    samples = addSample(samples, { at, bytes, id });
    return speedOf(samples);
  };
  assert.equal(add(0, 0), undefined);
  assert.equal(add(400, 400), undefined);
  assert.equal(add(1_000, 2_000), 2_000);
  assert.equal(add(9_000, 10_000), 1_000);
  assert.equal(add(9_100, 0, "b"), undefined);
  assert.equal(samples.length, 1);
});
