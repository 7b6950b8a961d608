import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decideIssue,
  decideRedeem,
  decideStart,
  type Migration,
  type Source,
  stateFor,
  type Target,
  toView,
} from "./policy.ts";

const now = new Date("2026-01-01T12:00:00Z");
const minute = 60_000;
const fromNow = (ms: number) => new Date(now.getTime() + ms);
const at = { now, session: "mine", confirmTtlMs: 10 * minute };

const base: Migration = {
  id: "m",
  sourceUserId: "source",
  targetUserId: null,
  state: "initiated",
  confirmFactor: null,
  confirmedAt: null,
  confirmSession: null,
  codeExpiresAt: null,
  leasedUntil: null,
  servers: null,
  answeredAt: null,
};
const confirmed = (about: Partial<Migration> = {}): Migration => ({
  ...base,
  state: "confirmed",
  confirmFactor: "email_otp",
  confirmedAt: now,
  confirmSession: "mine",
  ...about,
});
const issued = (about: Partial<Migration> = {}): Migration => ({
  ...confirmed(),
  state: "code_issued",
  targetUserId: "target",
  codeExpiresAt: fromNow(minute),
  ...about,
});
const redeeming = (about: Partial<Migration> = {}): Migration =>
  issued({ state: "redeeming", leasedUntil: fromNow(1_000), ...about });
const redeemed = (about: Partial<Migration> = {}): Migration =>
  issued({ state: "redeemed", servers: ["a"], answeredAt: now, ...about });

const states: Record<string, [Migration, ReturnType<typeof stateFor>]> = {
  "an opened migration is initiated": [base, "initiated"],
  "a proof counts in its own session": [confirmed(), "confirmed"],
  "a proof of another session does not count": [confirmed({ confirmSession: "other" }), "initiated"],
  "a proof counts to the last millisecond of ten minutes": [
    confirmed({ confirmedAt: fromNow(-10 * minute + 1) }),
    "confirmed",
  ],
  "a proof of ten minutes ago has lapsed": [confirmed({ confirmedAt: fromNow(-10 * minute) }), "initiated"],
  "a code that is out is told to every session of the source": [
    issued({ confirmSession: "other" }),
    "code_issued",
  ],
  "a code that has run out counts as initiated": [issued({ codeExpiresAt: now }), "initiated"],
  "a redemption under way is told as a code, however old": [
    redeeming({ codeExpiresAt: fromNow(-minute) }),
    "code_issued",
  ],
};
for (const [fact, [given, state]] of Object.entries(states))
  test(fact, () => assert.equal(stateFor(given, at), state));

test("the view tells what counts and when it ends, and nothing that has lapsed", () => {
  assert.deepEqual(toView(undefined, at), { active: false });
  assert.deepEqual(toView(base, at), { active: true, state: "initiated" });
  assert.deepEqual(toView(confirmed(), at), {
    active: true,
    state: "confirmed",
    confirm_factor: "email_otp",
    confirm_expires_at: fromNow(10 * minute).toISOString(),
  });
  assert.deepEqual(toView(issued(), at), {
    active: true,
    state: "code_issued",
    confirm_factor: "email_otp",
    target_user_id: "target",
    code_expires_at: fromNow(minute).toISOString(),
  });
  assert.deepEqual(toView(issued({ codeExpiresAt: now }), at), { active: true, state: "initiated" });
});

const source = (about: Partial<Source> = {}): Source => ({
  id: "source",
  role: "user",
  disabled: false,
  deletedAt: null,
  ...about,
});
const starts: Record<string, [Source | undefined, Migration | undefined, ReturnType<typeof decideStart>]> = {
  "a linked player opens a migration": [source(), undefined, "open"],
  "an unfinished one is replaced, its code too": [source(), issued(), "open"],
  "one that is being redeemed is not": [source(), redeeming(), "account_is_retired"],
  "an unlinked player has nothing to give": [undefined, undefined, "migrate_not_linked"],
  "a disabled account gives nothing away": [source({ disabled: true }), undefined, "account_is_retired"],
  "a retired account gives nothing away": [source({ deletedAt: now }), undefined, "account_is_retired"],
  "the owner account is never retired by a game": [source({ role: "owner" }), undefined, "owner_protected"],
};
for (const [fact, [account, current, verdict]] of Object.entries(starts))
  test(fact, () => assert.equal(decideStart(account, current), verdict));

const target = (about: Partial<Target> = {}): Target => ({
  id: "target",
  disabled: false,
  deletedAt: null,
  ...about,
});
const issues: Record<
  string,
  [Migration | undefined, string, Target | undefined, ReturnType<typeof decideIssue>]
> = {
  "a confirmed source names a target": [confirmed(), "target", target(), "issue"],
  "without a migration there is nothing to issue": [undefined, "target", target(), "no_migration"],
  "an unproved source learns nothing of accounts": [base, "nobody", undefined, "not_confirmed"],
  "a second code is not given out while one is": [issued(), "target", target(), "not_confirmed"],
  "nobody hands servers to themselves": [confirmed(), "source", target(), "invalid_target"],
  "an unknown target is not found": [confirmed(), "nobody", undefined, "target_not_found"],
  "a disabled target is unavailable": [
    confirmed(),
    "target",
    target({ disabled: true }),
    "target_unavailable",
  ],
  "a retired target is unavailable": [
    confirmed(),
    "target",
    target({ deletedAt: now }),
    "target_unavailable",
  ],
};
for (const [fact, [migration, targetUserId, found, verdict]] of Object.entries(issues)) {
  const about = { migration, sourceUserId: "source", targetUserId };
  test(fact, () => assert.equal(decideIssue(about, found, at), verdict));
}

const redeems: Record<
  string,
  [Migration | undefined, string, Source | undefined, ReturnType<typeof decideRedeem>]
> = {
  "the named target redeems": [issued(), "target", source(), "begin"],
  "an unknown code is invalid": [undefined, "target", source(), "invalid_code"],
  "nobody but the named target redeems": [issued(), "other", source(), "invalid_code"],
  "the source does not redeem its own code": [issued(), "source", source(), "invalid_code"],
  "a code that has run out is invalid": [issued({ codeExpiresAt: now }), "target", source(), "invalid_code"],
  "a source that was disabled meanwhile gives nothing": [
    issued(),
    "target",
    source({ disabled: true }),
    "invalid_code",
  ],
  "a source that became owner meanwhile gives nothing": [
    issued(),
    "target",
    source({ role: "owner" }),
    "invalid_code",
  ],
  "a redemption that is worked on is nobody else's": [redeeming(), "target", source(), "invalid_code"],
  "an abandoned redemption is carried on by its target": [
    redeeming({ leasedUntil: now }),
    "target",
    source(),
    "carry_on",
  ],
  "an abandoned redemption is carried on even after the code ran out and the source was disabled": [
    redeeming({ leasedUntil: now, codeExpiresAt: fromNow(-minute) }),
    "target",
    source({ disabled: true }),
    "carry_on",
  ],
  "an abandoned redemption is not carried on by somebody else": [
    redeeming({ leasedUntil: now }),
    "other",
    source(),
    "invalid_code",
  ],
  "a spent code is invalid": [redeemed(), "target", source({ deletedAt: now }), "invalid_code"],
  "a redemption that nobody was told of is told": [
    redeemed({ answeredAt: null }),
    "target",
    source(),
    "tell",
  ],
  "a migration without a code has no redemption": [confirmed(), "target", source(), "invalid_code"],
};
for (const [fact, [migration, callerId, from, verdict]] of Object.entries(redeems))
  test(fact, () =>
    assert.equal(decideRedeem(migration, { callerId, source: from, isBusy: false, now }), verdict),
  );

test("an account that is in another redemption waits for its end", () => {
  const about = { callerId: "target", source: source(), isBusy: true, now };
  assert.equal(decideRedeem(issued(), about), "busy");
  assert.equal(decideRedeem(redeeming({ leasedUntil: now }), about), "carry_on");
});
