import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { createRateLimit } from "./rate-limit.ts";
import { defaultTiming, pauseAfter, readRetryAfter, timeFor } from "./timing.ts";
import { withinTime } from "./within-time.ts";

const mebibyte = 1024 * 1024;
const never = new AbortController().signal;

describe("how long bytes may take", () => {
  const { objectGraceMs: graceMs, minRate } = defaultTiming;
  const cases: [string, number, number, number][] = [
    ["nothing", 0, 0, 600_000],
    ["a gibibyte", 1024 * mebibyte, 0, 600_000 + 2_048_000],
    ["a gibibyte, limited to more than enough", 1024 * mebibyte, 10 * mebibyte, 600_000 + 2_048_000],
    ["a mebibyte, limited to 128 KiB/s", mebibyte, 128 * 1024, 600_000 + 12_000],
  ];
  for (const [what, bytes, uploadRate, wanted] of cases)
    test(what, () => assert.equal(timeFor(bytes, { graceMs, minRate, uploadRate }), wanted));
});

describe("the pause after a failed attempt", () => {
  const after = (failed: number, retryAfterMs?: number, spread = 1) =>
    pauseAfter(failed, { retryAfterMs, spread, timing: defaultTiming });
  const cases: [string, number | undefined, number | undefined][] = [
    ["the first", after(1), 500],
    ["the first, at its shortest", after(1, undefined, 0), 250],
    ["the fifth", after(5), 8_000],
    ["the last is none", after(6), undefined],
    ["as the store asks", after(1, 30_000), 30_000],
    ["not shorter because the store asks", after(3, 1), 2_000],
    ["not as long as a store that asks for a day", after(1, 86_400_000), 60_000],
  ];
  for (const [what, pause, wanted] of cases) test(what, () => assert.equal(pause, wanted));

  const headers: [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ["7", 7_000],
    ["Thu, 01 Jan 1970 00:01:00 GMT", 50_000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["soon", undefined],
  ];
  for (const [header, wanted] of headers)
    test(`Retry-After: ${header}`, () => assert.equal(readRetryAfter(header, 10_000), wanted));
});

test("a limit lets a second of bytes through at once, and then as many as a second has", async () => {
  let now = 0;
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    slept.push(ms);
    now += ms;
  };
  const limit = createRateLimit(1_000, { now: () => now, sleep });
  await limit.take(600, never);
  await limit.take(400, never);
  assert.deepEqual(slept, []);
  await limit.take(500, never);
  await limit.take(2_000, never);
  assert.deepEqual(slept, [500, 2_000]);
  now += 60_000;
  await limit.take(1_000, never);
  assert.equal(slept.length, 2);
});

describe("a body within its time", () => {
  async function* chunks(count: number, pauseMs: number) {
    for (let number = 0; number < count; number += 1) {
      if (pauseMs > 0) await wait(pauseMs);
      yield Buffer.alloc(10);
    }
  }

  test("fails when the store takes too long", async () => {
    await assert.rejects(
      async () => {
        for await (const _ of withinTime(chunks(100, 50), { requestGraceMs: 200, minRate: 1_000 }, never));
      },
      { problem: "unavailable", message: "the store sends too slowly" },
    );
  });

  test("may wait for its reader as long as it likes", async () => {
    let size = 0;
    for await (const chunk of withinTime(chunks(3, 0), { requestGraceMs: 50, minRate: 1_000 }, never)) {
      size += chunk.length;
      await wait(150);
    }
    assert.equal(size, 30);
  });

  test("ends when the caller gives up", async () => {
    const giveUp = new AbortController();
    await assert.rejects(
      async () => {
        for await (const _ of withinTime(chunks(2, 0), { requestGraceMs: 60_000, minRate: 1 }, giveUp.signal))
          giveUp.abort();
      },
      { name: "AbortError" },
    );
  });
});
