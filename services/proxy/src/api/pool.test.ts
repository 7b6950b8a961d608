import assert from "node:assert/strict";
import { test } from "node:test";
import { BusyError, createPool } from "./pool.ts";

function held() {
  const release: (() => void)[] = [];
  return { release, task: () => new Promise<void>((resolve) => release.push(resolve)) };
}

test("eight tasks run, sixty-four wait, and the next one fails as busy at once", async () => {
  const pool = createPool({ workers: 8, slots: 64 });
  const { release, task } = held();
  const all = Array.from({ length: 72 }, () => pool.run(task));
  await assert.rejects(pool.run(task), BusyError);
  assert.equal(release.length, 8);
  let done = 0;
  for (const one of all) void one.then(() => (done += 1));
  while (done < 72) {
    release.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    assert(release.length <= 8);
  }
  assert.equal(await pool.run(async () => "free again"), "free again");
});

test("a task that fails frees its slot", async () => {
  const pool = createPool({ workers: 1, slots: 0 });
  await assert.rejects(
    pool.run(() => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.equal(await pool.run(async () => 1), 1);
});
