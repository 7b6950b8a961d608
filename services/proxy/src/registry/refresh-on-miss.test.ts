import assert from "node:assert/strict";
import { test } from "node:test";
import { createRefreshOnMiss, shareRuns } from "./refresh-on-miss.ts";

test("overlapping polls are merged into one", async () => {
  let polls = 0;
  const refresh = shareRuns(async () => {
    polls += 1;
  });
  await Promise.all([refresh(), refresh()]);
  assert.equal(polls, 1);
  await refresh();
  assert.equal(polls, 2);
});

test("a thousand unknown names cause one poll a second, and all of them wait for it", async () => {
  let now = 0;
  let polls = 0;
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const refresh = () => {
    polls += 1;
    return answered;
  };
  const refreshOnMiss = createRefreshOnMiss({ refresh, everyMs: 1_000, now: () => now });
  let isOver = false;
  const all = Promise.all(Array.from({ length: 1_000 }, refreshOnMiss)).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  assert.deepEqual([polls, isOver], [1, false]);
  resolve();
  await all;
  now = 1_000;
  await refreshOnMiss();
  assert.equal(polls, 2);
});
