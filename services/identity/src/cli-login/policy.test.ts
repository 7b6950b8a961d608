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

describe("the result of a finish", () => {
  const cases = [
    ["an unknown secret is invalid", undefined, live, "invalid"],
    ["a waiting login is pending", waiting, undefined, "pending"],
    ["an expired login is invalid", { ...waiting, expiresAt: now }, undefined, "invalid"],
    ["a login of the other host is invalid", { ...approved, host: "operator" }, live, "invalid"],
    ["a used login is invalid", { ...approved, consumedAt: now }, live, "invalid"],
    ["a refused login is refused", refused, live, "refused"],
    ["a refused login is refused although the person is gone", refused, undefined, "refused"],
    ["an expired refused login is invalid", { ...refused, expiresAt: now }, live, "invalid"],
    ["an approved login signs in", approved, live, "sign_in"],
    ["an expired approved login is invalid", { ...approved, expiresAt: now }, live, "invalid"],
    ["an approval is void when the approver has no account any more", approved, undefined, "approval_void"],
    [
      "an approval is void when the approver has more rights now",
      approved,
      { ...live, role: "admin" },
      "approval_void",
    ],
    [
      "an approval is void when the approver has fewer rights now",
      { ...approved, decidedRole: "owner" },
      live,
      "approval_void",
    ],
    [
      "an approval is void when the session of the approver has ended",
      approved,
      { ...live, isSessionLive: false },
      "approval_void",
    ],
  ] as const;
  for (const [name, login, approver, expected] of cases)
    test(name, () => assert.equal(decideFinish(login, approver, { now, host: "player" }), expected));
});

describe("which logins may be approved or refused", () => {
  const cases = [
    ["a waiting one", waiting, true],
    ["not an unknown one", undefined, false],
    ["not one of the other host", { ...waiting, host: "operator" }, false],
    ["not an expired one", { ...waiting, expiresAt: now }, false],
    ["not an approved one again", approved, false],
    ["not a refused one", refused, false],
  ] as const;
  for (const [name, login, expected] of cases)
    test(name, () => assert.equal(isWaiting(login, { now, host: "player" }), expected));
});

test("the session ends with the one that approved it, at the latest after the usual lifetime", () => {
  const after = (ms: number) => new Date(now.getTime() + ms);
  assert.equal(sessionTtlMs(after(500), { now, ttlMs: 1_000 }), 500);
  assert.equal(sessionTtlMs(after(5_000), { now, ttlMs: 1_000 }), 1_000);
});

describe("whether two addresses are in one network", () => {
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
