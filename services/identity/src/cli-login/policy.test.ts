import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Approver, decideFinish, isSameNetwork, isWaiting, sessionTtlMs } from "./policy.ts";

const now = new Date("2026-06-01T12:00:00Z");
const in1ms = new Date(now.getTime() + 1);
const waiting = {
  host: "player",
  expiresAt: in1ms,
  decision: null,
  decidedRole: null,
  consumedAt: null,
} as const;
const approved = { ...waiting, decision: "approve", decidedRole: "user" } as const;
const refused = { ...approved, decision: "refuse" } as const;
const live: Approver = { role: "user", isSessionLive: true };

describe("what a finish gets", () => {
  const cases = [
    ["an unknown secret is invalid", undefined, live, "invalid"],
    ["a login that waits is pending", waiting, undefined, "pending"],
    ["a login at the end of its time is invalid", { ...waiting, expiresAt: now }, undefined, "invalid"],
    ["a login of the other host is invalid", { ...approved, host: "operator" }, live, "invalid"],
    ["a used login is invalid", { ...approved, consumedAt: now }, live, "invalid"],
    ["a refused login is refused", refused, live, "refused"],
    ["a refused login is refused though the person is gone", refused, undefined, "refused"],
    ["a refused login at the end of its time is invalid", { ...refused, expiresAt: now }, live, "invalid"],
    ["an approved login signs in", approved, live, "sign_in"],
    ["an approved login at the end of its time is invalid", { ...approved, expiresAt: now }, live, "invalid"],
    ["an approver without an account voids it", approved, undefined, "approval_void"],
    ["an approver with more rights voids it", approved, { ...live, role: "admin" }, "approval_void"],
    ["an approver with fewer rights voids it", { ...approved, decidedRole: "owner" }, live, "approval_void"],
    [
      "an ended session of the approver voids it",
      approved,
      { ...live, isSessionLive: false },
      "approval_void",
    ],
  ] as const;
  for (const [name, login, approver, expected] of cases)
    test(name, () => assert.equal(decideFinish(login, approver, { now, host: "player" }), expected));
});

describe("what may be decided", () => {
  const cases = [
    ["a login that waits", waiting, true],
    ["no unknown one", undefined, false],
    ["none of the other host", { ...waiting, host: "operator" }, false],
    ["none at the end of its time", { ...waiting, expiresAt: now }, false],
    ["no approved one again", approved, false],
    ["no refused one", refused, false],
  ] as const;
  for (const [name, login, expected] of cases)
    test(name, () => assert.equal(isWaiting(login, { now, host: "player" }), expected));
});

test("the session ends with the one that approved it, at the latest after its usual time", () => {
  const after = (ms: number) => new Date(now.getTime() + ms);
  assert.equal(sessionTtlMs(after(500), { now, ttlMs: 1_000 }), 500);
  assert.equal(sessionTtlMs(after(5_000), { now, ttlMs: 1_000 }), 1_000);
});

describe("two addresses are of one network", () => {
  const cases = [
    ["192.0.2.1", "192.0.2.1", true],
    ["192.0.2.1", "192.0.2.2", false],
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["", "", false],
  ] as const;
  for (const [one, other, expected] of cases)
    test(`${one || "unknown"} and ${other || "unknown"}: ${expected}`, () =>
      assert.equal(isSameNetwork(one, other), expected));
});
