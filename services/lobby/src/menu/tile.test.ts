import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, type ServerStatus, tileOf } from "./tile.ts";

const asleep: ServerStatus = {
  phase: "Stopped",
  isReady: false,
  playersOnline: 0,
  playersMax: 20,
  isClaimable: false,
};
const ready = { ...asleep, phase: "Running", isReady: true };
const ownerless = { ...asleep, isClaimable: true };
const wake = "WakeRequest";
const verdicts = [
  "",
  "wake",
  "owner",
  "retiring",
  "start_failed",
  "owner_only",
  "allowlist",
  "something new",
];

for (const verdict of verdicts) {
  test(`a ready server is joined whatever the verdict, "${verdict}" too`, () => {
    assert.deepEqual(tileOf({ name: "a", status: ready, verdict }), { label: "join", frame: wake });
    const both = { ...ready, isClaimable: true };
    assert.deepEqual(tileOf({ name: "a", status: both, verdict }), { label: "join", frame: wake });
  });
  if (verdict === "wake") continue;
  test(`a server without an owner is claimed whatever else the verdict, "${verdict}" too`, () => {
    assert.deepEqual(tileOf({ name: "a", status: ownerless, verdict }), {
      label: "claim",
      frame: "ClaimRequest",
    });
  });
}

test("a server without an owner that anybody may start is started, and claimed by the right button", () => {
  const tile = tileOf({ name: "a", status: ownerless, verdict: "wake" });
  assert.deepEqual(tile, { label: "start", frame: wake, isClaimable: true });
  assert.deepEqual(chosen(tile, false), tile);
  assert.deepEqual(chosen(tile, true), { label: "claim", frame: "ClaimRequest" });
  for (const other of [
    tileOf({ name: "a", status: ready, verdict: "wake" }),
    tileOf({ name: "a", status: asleep, verdict: "wake" }),
    tileOf({ name: "a", status: asleep, verdict: "owner_only" }),
  ])
    assert.deepEqual(chosen(other, true), other);
});

for (const obstacle of ["retiring", "start_failed", "owner_only", "allowlist"] as const) {
  test(`${obstacle} can't be started and sends nothing`, () => {
    assert.deepEqual(tileOf({ name: "a", status: asleep, verdict: obstacle }), {
      label: "blocked",
      obstacle,
    });
    assert.deepEqual(tileOf({ name: "a", verdict: obstacle }), { label: "blocked", obstacle });
  });
}

for (const verdict of ["", "wake", "owner", "something new"]) {
  test(`otherwise, "${verdict}" too, a server is started`, () => {
    assert.deepEqual(tileOf({ name: "a", status: asleep, verdict }), { label: "start", frame: wake });
    assert.deepEqual(tileOf({ name: "a", verdict }), { label: "start", frame: wake });
  });
}
