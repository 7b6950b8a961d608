import assert from "node:assert/strict";
import { test } from "node:test";
import { poll } from "./poll.ts";

const soon = () => performance.now() + 60_000;

test("an early end is noticed long before the longest pause", async () => {
  const endsAt = performance.now() + 50;
  const probe = async () => (performance.now() > endsAt ? "ended" : undefined);
  assert.equal(await poll(probe, { everyMs: 600_000, endAt: soon() }), "ended");
});

test("a poll returns undefined at its deadline, and throws the signal's reason when that aborts", async () => {
  const never = async () => undefined;
  assert.equal(await poll(never, { everyMs: 10, endAt: performance.now() + 30 }), undefined);
  const leaving = new AbortController();
  const waiting = poll(never, { everyMs: 600_000, endAt: soon(), signal: leaving.signal });
  leaving.abort(new Error("the caller is gone"));
  await assert.rejects(waiting, /the caller is gone/);
});
