import assert from "node:assert/strict";
import { test } from "node:test";
import { decideSession, isProven, type SessionFacts, truncateUserAgent } from "./policy.ts";

const now = new Date("2026-01-01T12:00:00Z");
const ago = (ms: number) => new Date(now.getTime() - ms);
const minute = 60_000;
const live: SessionFacts = {
  door: "setup",
  host: "player",
  expiresAt: new Date(now.getTime() + 1),
  revokedAt: null,
  lastSeenAt: ago(minute),
  role: "user",
  disabled: false,
  deletedAt: null,
};

const verdicts: [string, Partial<SessionFacts>, string, boolean?][] = [
  ["an unexpired session is live", {}, "live"],
  ["an expired session is unknown", { expiresAt: now }, "unknown"],
  ["an ended session is unknown", { revokedAt: ago(1) }, "unknown"],
  ["a session of a disabled account is unknown", { disabled: true }, "unknown"],
  ["a session of a deleted account is unknown", { deletedAt: ago(1) }, "unknown"],
  [
    "an owner idle for just under 30 minutes is live",
    { role: "owner", lastSeenAt: ago(30 * minute - 1) },
    "live",
  ],
  ["an owner idle for 30 minutes is unknown", { role: "owner", lastSeenAt: ago(30 * minute) }, "unknown"],
  ["a player idle for hours is live", { lastSeenAt: ago(600 * minute) }, "live"],
  ["a password session is rejected while password sign-in is off", { door: "password" }, "local_auth_off"],
  ["a password session is live while password sign-in is on", { door: "password" }, "live", true],
  [
    "an ended password session is unknown even while password sign-in is off",
    { door: "password", revokedAt: ago(1) },
    "unknown",
  ],
];
for (const [name, facts, verdict, isPasswordDoorOpen = false] of verdicts) {
  test(name, () => {
    const at = { now, staffIdleMs: 30 * minute, isPasswordDoorOpen };
    assert.equal(decideSession({ ...live, ...facts }, at), verdict);
  });
}

test("a proof is valid for less than its lifetime", () => {
  const at = { now, reauthTtlMs: 5 * minute };
  assert.equal(isProven(ago(5 * minute - 1), at), true);
  assert.equal(isProven(ago(5 * minute), at), false);
  assert.equal(isProven(null, at), false);
});

test("a user agent is kept to 256 bytes without half a character or control characters", () => {
  assert.equal(truncateUserAgent("a\u0000b\r\nc"), "abc");
  assert.equal(truncateUserAgent("x".repeat(300)).length, 256);
  const kept = truncateUserAgent("é".repeat(200).replace(/^/, "x"));
  assert.equal(Buffer.byteLength(kept), 255);
  assert.ok(!kept.includes("\ufffd"));
});
