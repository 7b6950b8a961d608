import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@svc/local-stack/testing";
import { createWorkQueue } from "./work-queue.ts";

const fail = () => assert.fail("no run fails here");

test("one key never runs twice at once, and what came meanwhile makes it run once more", async () => {
  let running = 0;
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const queue = createWorkQueue({
    concurrency: 8,
    onError: fail,
    handle: async () => {
      running += 1;
      runs += 1;
      assert.equal(running, 1);
      if (runs === 1) await gate.promise;
      running -= 1;
      return undefined;
    },
  });
  queue.add("a");
  await until(() => runs === 1);
  for (let count = 0; count < 5; count++) queue.add("a");
  gate.resolve();
  await until(() => runs === 2 && running === 0);
  await queue.close();
  assert.equal(runs, 2);
});

test("no more keys run at once than it may", async () => {
  let running = 0;
  let highest = 0;
  let done = 0;
  const queue = createWorkQueue({
    concurrency: 3,
    onError: fail,
    handle: async () => {
      running += 1;
      highest = Math.max(highest, running);
      await delay(1);
      running -= 1;
      done += 1;
      return undefined;
    },
  });
  for (let key = 0; key < 20; key++) queue.add(String(key));
  await until(() => done === 20);
  assert.equal(highest, 3);
  await queue.close();
});

test("a run says when it wants to run again, and a change comes before that", async () => {
  const runs: number[] = [];
  const queue = createWorkQueue({
    concurrency: 1,
    onError: fail,
    handle: async () => (runs.push(Date.now()) === 1 ? 40 : 3_600_000),
  });
  queue.add("a");
  await until(() => runs.length === 2);
  assert.ok((runs[1] ?? 0) - (runs[0] ?? 0) >= 39);
  queue.add("a");
  await until(() => runs.length === 3);
  await queue.close();
});

test("a key that fails runs again with a growing wait, which a success forgets", async () => {
  const waits: number[] = [];
  let runs = 0;
  const queue = createWorkQueue({
    concurrency: 1,
    firstBackOffMs: 4,
    highestBackOffMs: 10,
    onError: (_key, _error, retryMs) => waits.push(retryMs),
    handle: async () => {
      runs += 1;
      if (runs !== 4) throw new Error("not now");
      return 1;
    },
  });
  queue.add("a");
  // It goes on failing while nobody looks.
  await until(() => waits.length >= 4);
  assert.deepEqual(waits.slice(0, 4), [4, 8, 10, 4]);
  await queue.close();
});

test("ten thousand waiting keys run, none before its time", async () => {
  const dueAt = new Map<string, number>();
  let early = 0;
  const queue = createWorkQueue({
    concurrency: 10_000,
    onError: fail,
    handle: async (key) => {
      if (Date.now() < (dueAt.get(key) ?? 0)) early += 1;
      dueAt.delete(key);
      return undefined;
    },
  });
  for (let key = 0; key < 10_000; key++) {
    const waitMs = 1 + ((key * 7_919) % 100);
    dueAt.set(String(key), Date.now() + waitMs);
    queue.addAfter(String(key), waitMs);
  }
  await until(() => dueAt.size === 0);
  assert.equal(early, 0);
  await queue.close();
});

test("a forgotten key does not run", async () => {
  const seen: string[] = [];
  const queue = createWorkQueue({
    concurrency: 1,
    onError: fail,
    handle: async (key) => {
      seen.push(key);
      return undefined;
    },
  });
  queue.addAfter("gone", 5);
  queue.forget("gone");
  queue.addAfter("kept", 10);
  await until(() => seen.length > 0);
  assert.deepEqual(seen, ["kept"]);
  await queue.close();
});

test("closing waits for what runs and tells it to end", async () => {
  let wasTold = false;
  const queue = createWorkQueue({
    concurrency: 1,
    onError: fail,
    handle: (_key, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          wasTold = true;
          resolve(undefined);
        });
      }),
  });
  queue.add("a");
  await until(() => queue.running === 1);
  await queue.close();
  assert.equal(wasTold, true);
});
