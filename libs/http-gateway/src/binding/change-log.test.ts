import assert from "node:assert/strict";
import { test } from "node:test";
import { createChangeLog } from "./change-log.ts";

const startMs = 1_800_000_000_000;
const second = (ms: number) => Math.floor(ms / 1_000);

function logFrom(entries = 100) {
  const log = createChangeLog<string>({ entries, keptMs: 3_600_000, overlapMs: 5_000 });
  log.restart(startMs);
  return log;
}
const keysOf = (changes: readonly { key: string }[] | undefined) => changes?.map(({ key }) => key);

test("what changed since a second is told once for each entry, also what came shortly before it", () => {
  const log = logFrom();
  for (const [key, afterMs] of [
    ["old", 10_000],
    ["a", 60_000],
    ["b", 61_000],
    ["a", 62_000],
  ] as const)
    log.note({ type: "server", key }, startMs + afterMs);
  const nowMs = startMs + 70_000;
  assert.deepEqual(keysOf(log.since(second(startMs + 65_000), nowMs)), ["b", "a"]);
  assert.deepEqual(keysOf(log.since(second(startMs + 69_000), nowMs)), []);
  assert.deepEqual(keysOf(log.since(second(startMs + 15_000), nowMs)), ["old", "b", "a"]);
});

const unknown: Readonly<Record<string, [afterMs: number, nowAfterMs: number]>> = {
  "before the log began": [4_000, 60_000],
  "more than an hour ago": [60_000, 3_700_000],
  "in the future": [60_000, 40_000],
};
for (const [when, [afterMs, nowAfterMs]] of Object.entries(unknown)) {
  test(`a position ${when} is not known`, () => {
    assert.equal(logFrom().since(second(startMs + afterMs), startMs + nowAfterMs), undefined);
  });
}

test("a log that was never filled knows nothing", () => {
  const log = createChangeLog<string>({ entries: 10, keptMs: 1_000, overlapMs: 0 });
  assert.equal(log.since(second(startMs), startMs), undefined);
});

test("a full log forgets the oldest entries, and that it knew them", () => {
  const log = logFrom(2);
  for (const [key, afterMs] of [
    ["a", 20_000],
    ["b", 30_000],
    ["c", 40_000],
  ] as const)
    log.note({ type: "server", key }, startMs + afterMs);
  const nowMs = startMs + 41_000;
  assert.equal(log.since(second(startMs + 22_000), nowMs), undefined);
  assert.deepEqual(keysOf(log.since(second(startMs + 26_000), nowMs)), ["b", "c"]);
});

test("who could see an entry before is kept over later changes, for a few of them", () => {
  const log = logFrom();
  const change = { type: "server", key: "a" };
  log.note(change, startMs + 10_000, "usr-1");
  log.note(change, startMs + 11_000);
  log.note(change, startMs + 12_000, "usr-2");
  const nowMs = startMs + 60_000;
  const [entry] = log.since(second(startMs + 9_000), nowMs) ?? [];
  assert.deepEqual(entry?.formers, ["usr-1", "usr-2"]);
  for (const former of ["usr-3", "usr-4", "usr-5"]) log.note(change, startMs + 20_000, former);
  assert.equal(log.since(second(startMs + 9_000), nowMs), undefined, "usr-1 would not be told");
  assert.equal(log.since(second(startMs + 16_000), nowMs)?.length, 1);
});

test("thousands of changes of a few entries are told once each, in the order of the last one", () => {
  const log = logFrom();
  const keys = ["a", "b", "c"];
  for (let n = 0; n < 3_500; n += 1)
    log.note({ type: "server", key: keys[n % 3] ?? "" }, startMs + 10_000 + n);
  const nowMs = startMs + 20_000;
  assert.deepEqual(keysOf(log.since(second(startMs + 14_000), nowMs)), ["c", "a", "b"]);
  assert.deepEqual(keysOf(log.since(second(startMs + 19_000), nowMs)), []);
});

test("what changes after the clock was set back hides nothing", () => {
  const log = logFrom();
  log.note({ type: "server", key: "a" }, startMs + 60_000);
  log.note({ type: "server", key: "b" }, startMs + 20_000);
  assert.deepEqual(keysOf(log.since(second(startMs + 40_000), startMs + 60_000)), ["a", "b"]);
});
