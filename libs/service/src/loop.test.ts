import assert from "node:assert/strict";
import { test } from "node:test";
import { createWake } from "@svc/store/wake";
import { repeat, startLoop } from "./loop.ts";

const never = 3_600_000;

test("a notification ends the idle pause, also one that arrived during the pass", async () => {
  const wake = createWake();
  const ending = new AbortController();
  let rounds = 0;
  const work = async () => {
    rounds++;
    if (rounds === 1) wake.ring();
    else if (rounds === 2) setImmediate(wake.ring);
    // Stopping does not wait for the pause either.
    else setImmediate(() => ending.abort());
    return false;
  };
  const idle = { everyMs: never, wake };
  await repeat(work, { everyMs: () => never, idle, onError: assert.fail, signal: ending.signal });
  assert.equal(rounds, 3);
});

test("without a notification the next pass follows after the idle pause; after work or a failure, after the shorter pause", async () => {
  const ending = new AbortController();
  const errors: string[] = [];
  const results = [() => false, () => true, () => Promise.reject(new Error("down")), () => ending.abort()];
  let rounds = 0;
  const pauses: string[] = [];
  const wake = {
    ring: () => {},
    next: async () => void pauses.push("idle"),
  };
  await repeat(async () => results[rounds++]?.(), {
    everyMs: () => {
      pauses.push("busy");
      return 1;
    },
    idle: { everyMs: never, wake },
    onError: (error) => errors.push(error.message),
    signal: ending.signal,
  });
  assert.deepEqual([pauses, errors], [["idle", "busy", "busy", "busy"], ["down"]]);
});

test("a ring starts the next round at once, also after one that failed; closing ends the pause before the first", async () => {
  const rounds = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const errors: string[] = [];
  let begun = 0;
  const round = async () => {
    begun += 1;
    rounds[begun - 1]?.resolve();
    throw new Error("down");
  };
  const loop = startLoop(round, { everyMs: never, onError: ({ message }) => errors.push(message) });
  await rounds[0]?.promise;
  loop.ring();
  await rounds[1]?.promise;
  await loop.close();
  await startLoop(async () => assert.fail(), {
    firstMs: never,
    everyMs: never,
    onError: assert.fail,
  }).close();
  assert.equal(begun, 2);
  assert.equal(errors[0], "down");
});

test("what a round throws because the loop ends is not reported", async () => {
  const begun = Promise.withResolvers<void>();
  const round = (signal: AbortSignal) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      begun.resolve();
    });
  const loop = startLoop(round, { everyMs: never, onError: assert.fail });
  await begun.promise;
  await loop.close();
});
