import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decideIssue,
  decideStart,
  type Source,
  stateFor,
  type Target,
  type Transfer,
  toView,
} from "./policy.ts";

const now = new Date("2026-01-01T12:00:00Z");
const minute = 60_000;
const fromNow = (ms: number) => new Date(now.getTime() + ms);
const at = { now, session: "mine", confirmTtlMs: 10 * minute };

const base: Transfer = {
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
const confirmed = (about: Partial<Transfer> = {}): Transfer => ({
  ...base,
  state: "confirmed",
  confirmFactor: "email_otp",
  confirmedAt: now,
  confirmSession: "mine",
  ...about,
});
const issued = (about: Partial<Transfer> = {}): Transfer => ({
  ...confirmed(),
  state: "code_issued",
  targetUserId: "target",
  codeExpiresAt: fromNow(minute),
  ...about,
});
const redeeming = (about: Partial<Transfer> = {}): Transfer =>
  issued({ state: "redeeming", leasedUntil: fromNow(1_000), ...about });

const states: Record<string, [Transfer, ReturnType<typeof stateFor>]> = {
  "an opened transfer is initiated": [base, "initiated"],
  "a proof counts in its own session": [confirmed(), "confirmed"],
  "a proof of another session does not count": [confirmed({ confirmSession: "other" }), "initiated"],
  "a proof counts to the last millisecond of ten minutes": [
    confirmed({ confirmedAt: fromNow(-10 * minute + 1) }),
    "confirmed",
  ],
  "a proof of ten minutes ago has expired": [confirmed({ confirmedAt: fromNow(-10 * minute) }), "initiated"],
  "an issued code is shown to every session of the source": [
    issued({ confirmSession: "other" }),
    "code_issued",
  ],
  "a transfer with an expired code is initiated": [issued({ codeExpiresAt: now }), "initiated"],
  "a redemption in progress is shown as an issued code, however old": [
    redeeming({ codeExpiresAt: fromNow(-minute) }),
    "code_issued",
  ],
};
for (const [fact, [given, state]] of Object.entries(states))
  test(fact, () => assert.equal(stateFor(given, at), state));

test("the view shows what is valid and until when, and nothing that has expired", () => {
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
const starts: Record<string, [Source | undefined, Transfer | undefined, ReturnType<typeof decideStart>]> = {
  "a linked player may open a transfer": [source(), undefined, "open"],
  "an unfinished transfer is replaced, and so is its code": [source(), issued(), "open"],
  "a transfer that is being redeemed is not replaced": [source(), redeeming(), "account_is_retired"],
  "an unlinked player has no account to transfer from": [undefined, undefined, "migrate_not_linked"],
  "a disabled account cannot transfer": [source({ disabled: true }), undefined, "account_is_retired"],
  "a retired account cannot transfer": [source({ deletedAt: now }), undefined, "account_is_retired"],
  "the owner account cannot transfer": [source({ role: "owner" }), undefined, "owner_protected"],
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
  [Transfer | undefined, string, Target | undefined, ReturnType<typeof decideIssue>]
> = {
  "a confirmed source may name a target": [confirmed(), "target", target(), "issue"],
  "without a transfer no code is issued": [undefined, "target", target(), "no_migration"],
  "a source without a proof learns nothing about accounts": [base, "nobody", undefined, "not_confirmed"],
  "a second code is not issued while one is valid": [issued(), "target", target(), "not_confirmed"],
  "an account cannot transfer to itself": [confirmed(), "source", target(), "invalid_target"],
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
for (const [fact, [transfer, targetUserId, found, verdict]] of Object.entries(issues)) {
  const about = { transfer, sourceUserId: "source", targetUserId };
  test(fact, () => assert.equal(decideIssue(about, found, at), verdict));
}
