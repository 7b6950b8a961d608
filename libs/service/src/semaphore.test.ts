import assert from "node:assert/strict";
import { test } from "node:test";
import { createSemaphore } from "./semaphore.ts";

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("at most as many pieces of work run at a time as there are slots", async () => {
  const semaphore = createSemaphore(2);
  const end = gate();
  let [working, highest] = [0, 0];
  const all = Array.from({ length: 10 }, () =>
    semaphore.run(async () => {
      highest = Math.max(highest, ++working);
      await end.opened;
      working -= 1;
    }),
  );
  await turn();
  assert.equal(working, 2);
  end.open();
  await Promise.all(all);
  assert.equal(highest, 2);
});

test("work that waits in releaseWhile frees its slot for others and takes one again before it goes on", async () => {
  const semaphore = createSemaphore(1);
  const [slow, other] = [gate(), gate()];
  const steps: string[] = [];
  const first = semaphore.run(async (releaseWhile) => {
    await releaseWhile(() => slow.opened);
    steps.push("first goes on");
  });
  const second = semaphore.run(async () => {
    steps.push("second works");
    await other.opened;
    steps.push("second is done");
  });
  await turn();
  assert.deepEqual(steps, ["second works"]);
  slow.open();
  await turn();
  assert.deepEqual(steps, ["second works"]);
  other.open();
  await Promise.all([first, second]);
  assert.deepEqual(steps, ["second works", "second is done", "first goes on"]);
});

test("work that fails gives its slot back, also when it fails in releaseWhile", async () => {
  const semaphore = createSemaphore(1);
  const fail = () => Promise.reject(new Error("failed"));
  await assert.rejects(semaphore.run((releaseWhile) => releaseWhile(fail)));
  await assert.rejects(semaphore.run(fail));
  assert.equal(await semaphore.run(async () => "free"), "free");
});

test("work that is cancelled while it waits never starts, and takes no slot", async () => {
  const semaphore = createSemaphore(1);
  const end = gate();
  const first = semaphore.run(() => end.opened);
  const leaver = new AbortController();
  const leaving = semaphore.run(() => assert.fail("it started"), leaver.signal);
  const third = semaphore.run(async () => "third");
  assert.equal(semaphore.waiting(), 2);
  leaver.abort();
  await assert.rejects(leaving, { name: "AbortError" });
  await assert.rejects(semaphore.run(() => assert.fail("it started"), leaver.signal));
  end.open();
  await first;
  assert.equal(await third, "third");
  assert.ok(!semaphore.isFull());
});

test("an abort after the slot was handed over does not lose it", async () => {
  const semaphore = createSemaphore(1);
  const end = gate();
  const first = semaphore.run(() => end.opened);
  const late = new AbortController();
  const second = semaphore.run(async () => "second", late.signal);
  end.open();
  await first;
  late.abort();
  assert.equal(await second, "second");
  assert.equal(await semaphore.run(async () => "free"), "free");
});
