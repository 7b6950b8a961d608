import assert from "node:assert/strict";
import { test } from "node:test";
import { decideWindow, draftOf, stateOfWindow } from "./window.ts";

const zone = "Europe/Berlin";
const change = (draft: { start: string; end: string }) => decideWindow(draft, zone).changes;

test("local times become moments", () => {
  const { window, problems } = decideWindow({ start: "2026-11-23T02:00", end: "2026-11-23T04:30" }, zone);
  assert.deepEqual(window, { start: "2026-11-23T01:00:00.000Z", end: "2026-11-23T03:30:00.000Z" });
  assert.deepEqual(problems, {});
});

for (const [sentence, start, end, problems] of [
  ["both ends are wanted", "", "", { start: "missing", end: "missing" }],
  ["half a time is none", "2026-11-23", "2026-11-23T04:30", { start: "missing" }],
  ["a date that is none is missing", "2026-11-23T02:00", "2026-13-23T04:30", { end: "missing" }],
  ["the end is after the start", "2026-11-23T04:00", "2026-11-23T02:00", { end: "not-after" }],
  ["a window of no length is none", "2026-11-23T04:00", "2026-11-23T04:00", { end: "not-after" }],
] as const) {
  test(sentence, () => {
    const decided = decideWindow({ start, end }, zone);
    assert.deepEqual([decided.window, decided.problems], [undefined, problems]);
  });
}

test("a time that the clock skips counts earlier by what is skipped, and is marked", () => {
  const draft = { start: "2026-03-29T02:30", end: "2026-03-29T05:00" };
  const { window } = decideWindow(draft, zone);
  assert.equal(window?.start, "2026-03-29T00:30:00.000Z");
  assert.deepEqual(change(draft), { start: { kind: "skipped", wanted: 150, shown: 90 } });
});

test("a time that the clock shows twice counts the first time, and is marked", () => {
  const draft = { start: "2026-10-25T01:00", end: "2026-10-25T02:30" };
  const { window } = decideWindow(draft, zone);
  assert.equal(window?.end, "2026-10-25T00:30:00.000Z");
  assert.deepEqual(change(draft), { end: { kind: "doubled", wanted: 150 } });
});

test("the hours of a change day outside the change are not marked", () => {
  assert.deepEqual(change({ start: "2026-10-25T01:59", end: "2026-10-25T03:00" }), {});
  assert.deepEqual(change({ start: "2026-03-28T23:00", end: "2026-03-29T03:00" }), {});
});

test("a window that is set is read back as it was typed", () => {
  const draft = { start: "2026-11-23T02:00", end: "2026-11-24T00:15" };
  const { window } = decideWindow(draft, zone);
  assert.ok(window);
  assert.deepEqual(draftOf(window, zone), draft);
  assert.deepEqual(draftOf({ start: null, end: null }, zone), { start: "", end: "" });
});

for (const [state, now] of [
  ["planned", "2026-11-23T00:59:59Z"],
  ["open", "2026-11-23T01:00:00Z"],
  ["open", "2026-11-23T02:59:59Z"],
  ["over", "2026-11-23T03:00:00Z"],
] as const) {
  test(`a window is ${state} at ${now}`, () => {
    const window = { start: "2026-11-23T01:00:00Z", end: "2026-11-23T03:00:00Z" };
    assert.equal(stateOfWindow(window, Date.parse(now)), state);
  });
}
