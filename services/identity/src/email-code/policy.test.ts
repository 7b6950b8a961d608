import assert from "node:assert/strict";
import { test } from "node:test";
import { countFailure, decideAttempt, decideLock, secondsUntil, typedCode } from "./policy.ts";

const now = new Date("2026-01-02T12:00:00Z");
const ago = (ms: number) => new Date(now.getTime() - ms);
const day = 86_400_000;
const limits = { failures: 10, windowMs: day };

test("nine wrong codes do not lock", () => {
  assert.deepEqual(decideLock({ windowStart: ago(0), failures: 9 }, now, limits), { isLocked: false });
});

test("ten wrong codes lock until 24 hours after the first", () => {
  const lock = decideLock({ windowStart: ago(day - 1_500), failures: 10 }, now, limits);
  assert.deepEqual(lock, { isLocked: true, until: new Date(now.getTime() + 1_500), retryAfterSeconds: 2 });
});

test("a lock ends with its 24 hours", () => {
  assert.deepEqual(decideLock({ windowStart: ago(day), failures: 10 }, now, limits), { isLocked: false });
});

test("a wrong code after the window starts a new one", () => {
  const old = { windowStart: ago(day), failures: 9 };
  assert.deepEqual(countFailure(old, now, limits), { windowStart: now, failures: 1 });
  const young = { windowStart: ago(day - 1), failures: 9 };
  assert.deepEqual(countFailure(young, now, limits), { windowStart: young.windowStart, failures: 10 });
  assert.deepEqual(countFailure(undefined, now, limits), { windowStart: now, failures: 1 });
});

const one = (isSame: boolean, attempts: number) => ({ isSame, attempts });
const tries: Record<string, [codes: ReturnType<typeof one>[], verdict: ReturnType<typeof decideAttempt>]> = {
  "without a live code no code is correct": [[], { kind: "no_code" }],
  "the fifth attempt may still be correct": [[one(true, 4)], { kind: "right", index: 0 }],
  "a code without attempts left is invalid even when it is correct": [[one(true, 5)], { kind: "spent" }],
  "an older live code is correct too": [[one(false, 0), one(true, 3)], { kind: "right", index: 1 }],
  "an invalidated code is wrong while another one is live": [
    [one(false, 0), one(true, 5)],
    { kind: "wrong" },
  ],
  "a code other than the live ones is wrong": [[one(false, 0), one(false, 0)], { kind: "wrong" }],
};
for (const [fact, [codes, verdict]] of Object.entries(tries)) {
  test(fact, () => assert.deepEqual(decideAttempt(codes, 5), verdict));
}

test("a wait is returned in whole seconds, at least one", () => {
  assert.equal(secondsUntil(new Date(now.getTime() + 59_001), now), 60);
  assert.equal(secondsUntil(now, now), 1);
});

test("a code may be typed with spaces or a dash", () => {
  assert.equal(typedCode(" 123-456 "), "123456");
});
