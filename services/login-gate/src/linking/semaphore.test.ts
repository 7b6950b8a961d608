import assert from "node:assert/strict";
import { test } from "node:test";
import { createSemaphore } from "./semaphore.ts";

const never = new AbortController().signal;

function heldCall() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStarted = false;
  const run = async () => {
    isStarted = true;
    await promise;
  };
  return { run, release: resolve, started: () => isStarted };
}

test("no more calls run at once than allowed, and the next in line follows", async () => {
  const limit = createSemaphore(2);
  const calls = [heldCall(), heldCall(), heldCall(), heldCall()];
  const done = calls.map(({ run }) => limit(run, never));
  await new Promise(setImmediate);
  assert.deepEqual(
    calls.map(({ started }) => started()),
    [true, true, false, false],
  );
  calls[1]?.release();
  await done[1];
  await new Promise(setImmediate);
  assert.deepEqual(
    calls.map(({ started }) => started()),
    [true, true, true, false],
  );
  for (const call of calls) call.release();
  await Promise.all(done);
});

test("a call that is cancelled while waiting takes no slot", async () => {
  const limit = createSemaphore(1);
  const first = heldCall();
  const running = limit(first.run, never);
  const leaver = new AbortController();
  const left = heldCall();
  const leaving = limit(left.run, leaver.signal);
  const third = limit(async () => "third", never);
  leaver.abort();
  await assert.rejects(leaving, { name: "AbortError" });
  first.release();
  await running;
  assert.equal(await third, "third");
  assert.equal(left.started(), false);
});

test("a call that fails frees its slot", async () => {
  const limit = createSemaphore(1);
  const failing = limit(() => Promise.reject(new Error("no")), never);
  await assert.rejects(failing, /no/);
  assert.equal(await limit(async () => 1, never), 1);
});
