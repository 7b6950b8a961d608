import assert from "node:assert/strict";
import { test } from "node:test";
import { createWriteBatcher } from "./write-batcher.ts";

function recorder(maxItems = 3) {
  const runs: number[][] = [];
  let working = 0;
  let mostAtOnce = 0;
  const ask = createWriteBatcher<number, number>({
    maxItems,
    concurrency: 2,
    keyOf: (item) => String(item % 100),
    run: async (items) => {
      runs.push([...items]);
      mostAtOnce = Math.max(mostAtOnce, ++working);
      await new Promise((resolve) => setImmediate(resolve));
      working -= 1;
      if (items.includes(13)) throw new Error("thirteen");
      return items.map((item) => item * 2);
    },
  });
  return { ask, runs, mostAtOnce: () => mostAtOnce };
}

test("every caller gets its own result, in runs of limited size", async () => {
  const { ask, runs, mostAtOnce } = recorder();
  const asked = Array.from({ length: 10 }, (_, index) => index);
  assert.deepEqual(
    await Promise.all(asked.map(ask)),
    asked.map((item) => item * 2),
  );
  assert.ok(runs.every((items) => items.length <= 3));
  assert.equal(runs.length, 4);
  assert.ok(mostAtOnce() <= 2);
});

test("items with one key are never in one run and keep their order", async () => {
  const { ask, runs } = recorder();
  await Promise.all([ask(1), ask(101), ask(201)]);
  assert.deepEqual(runs.flat(), [1, 101, 201]);
  assert.equal(runs.length, 3);
});

test("a failed run rejects only its own items", async () => {
  const { ask } = recorder(1);
  const results = await Promise.allSettled([ask(12), ask(13), ask(14)]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});
