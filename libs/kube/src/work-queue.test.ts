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

/** A queue whose runs end when the test says so; a key in `failing` fails. */
function gatedQueue() {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const failing = new Set<string>();
  const queue = createWorkQueue({
    concurrency: 8,
    onError: () => {},
    firstBackOffMs: 20,
    handle: async (key) => {
      const gate = Promise.withResolvers<void>();
      gates.set(key, gate);
      await gate.promise;
      if (failing.has(key)) throw new Error("failed");
      return undefined;
    },
  });
  const end = async (key: string) => {
    await until(() => gates.has(key));
    const gate = gates.get(key);
    gates.delete(key);
    gate?.resolve();
  };
  return { queue, end, failing, isRunning: (key: string) => gates.has(key) };
}

test("a queue has settled once everything that was added before has been handled since", async () => {
  const { queue, end, isRunning } = gatedQueue();
  assert.ok(await queue.settled(0), "nothing was added");
  queue.add("a");
  queue.add("b");
  await until(() => isRunning("a"));
  // This run may have read what was there before the change.
  queue.add("a");
  let settled: boolean | undefined;
  const settling = queue.settled(10_000).then((isSettled) => {
    settled = isSettled;
  });
  queue.add("later");
  await end("b");
  await end("a");
  await until(() => isRunning("a"));
  assert.equal(settled, undefined, "the change of a has not been handled");
  await end("a");
  await settling;
  assert.equal(settled, true, "what was added later is not waited for");
  await end("later");
  await queue.close();
});

test("a queue does not settle while a key fails, for longer than it may take, or when it is closed", async () => {
  const { queue, end, failing } = gatedQueue();
  failing.add("a");
  queue.add("a");
  const failed = queue.settled(10_000);
  await end("a");
  assert.equal(await failed, false);
  assert.equal(await queue.settled(10_000), false, "its key waits for its back-off");
  failing.delete("a");
  await end("a");
  await until(() => queue.settled(0));
  queue.add("slow");
  assert.equal(await queue.settled(5), false);
  const closed = queue.settled(10_000);
  const closing = queue.close();
  assert.equal(await closed, false);
  await end("slow");
  await closing;
});
