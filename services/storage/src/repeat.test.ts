import assert from "node:assert/strict";
import { test } from "node:test";
import { createWake } from "@svc/store";
import { repeat } from "./repeat.ts";

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
