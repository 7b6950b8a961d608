import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Fault } from "@svc/proto";
import type { Source, Transfer } from "./policy.ts";
import { decideOutcome, decideRedemption, type Observed } from "./redemption-plan.ts";

const now = new Date("2026-01-01T12:00:00Z");
const minute = 60_000;
const leaseMs = 30_000;
const fromNow = (ms: number) => new Date(now.getTime() + ms);

const issued = (about: Partial<Transfer> = {}): Transfer => ({
  id: "t",
  sourceUserId: "source",
  targetUserId: "target",
  state: "code_issued",
  confirmFactor: "email_otp",
  confirmedAt: now,
  confirmSession: "mine",
  codeExpiresAt: fromNow(minute),
  leasedUntil: null,
  servers: null,
  answeredAt: null,
  ...about,
});
const redeeming = (about: Partial<Transfer> = {}) =>
  issued({ state: "redeeming", leasedUntil: fromNow(1_000), ...about });
const abandoned = (about: Partial<Transfer> = {}) => redeeming({ leasedUntil: now, ...about });
const redeemed = (about: Partial<Transfer> = {}) =>
  issued({ state: "redeemed", servers: ["a"], answeredAt: now, ...about });
const source = (about: Partial<Source> = {}): Source => ({
  id: "source",
  role: "user",
  disabled: false,
  deletedAt: null,
  ...about,
});

describe("a presented code", () => {
  const table: Record<string, [Partial<Observed>, string]> = {
    "of the named target transfers the servers": [{}, "transfer_servers redeeming"],
    "that is unknown is invalid": [{ transfer: undefined }, "invalid_code"],
    "of an account other than the named target is invalid": [{ callerId: "other" }, "invalid_code"],
    "of the source itself is invalid": [{ callerId: "source" }, "invalid_code"],
    "that has expired is invalid": [{ transfer: issued({ codeExpiresAt: now }) }, "invalid_code"],
    "of a source that has been disabled since is invalid": [
      { source: source({ disabled: true }) },
      "invalid_code",
    ],
    "of a source that has become the owner since is invalid": [
      { source: source({ role: "owner" }) },
      "invalid_code",
    ],
    "waits while one of the accounts is in another redemption": [{ isBusy: true }, "busy"],
    "of a redemption with a live lease is invalid": [{ transfer: redeeming() }, "invalid_code"],
    "of an abandoned redemption resumes it": [{ transfer: abandoned() }, "transfer_servers redeeming"],
    "of an abandoned redemption resumes it though it has expired and the source is disabled": [
      { transfer: abandoned({ codeExpiresAt: fromNow(-minute) }), source: source({ disabled: true }) },
      "transfer_servers redeeming",
    ],
    "of an abandoned redemption resumes it though an account is in another one": [
      { transfer: abandoned(), isBusy: true },
      "transfer_servers redeeming",
    ],
    "of an abandoned redemption is invalid for any other account": [
      { transfer: abandoned(), callerId: "other" },
      "invalid_code",
    ],
    "that has been spent is invalid": [
      { transfer: redeemed(), source: source({ deletedAt: now }) },
      "invalid_code",
    ],
    "of a redemption whose response was lost gets it once more": [
      { transfer: redeemed({ answeredAt: null }) },
      "answer redeemed",
    ],
    "of a transfer without an issued code is invalid": [
      { transfer: issued({ state: "confirmed" }) },
      "invalid_code",
    ],
  };
  const honest: Observed = { transfer: issued(), source: source(), callerId: "target", isBusy: false };
  for (const [fact, [about, wanted]] of Object.entries(table))
    test(fact, () => {
      const plan = decideRedemption({ ...honest, ...about }, now, leaseMs);
      assert.equal(plan.act === "refuse" ? plan.reason : `${plan.act} ${plan.state}`, wanted);
      if (plan.act === "transfer_servers") assert.deepEqual(plan.requeueAt, fromNow(leaseMs));
    });
});

describe("the outcome of a step", () => {
  const quota = new Fault("migrate_quota_exceeded");
  const away = new Fault("unavailable");

  test("retires the source when the servers were transferred", () => {
    const plan = { act: "retire_source", servers: ["a"], state: "redeemed", requeueAt: null };
    assert.deepEqual(decideOutcome({ servers: ["a"] }, now), plan);
  });

  test("retires the source although it had no server", () => {
    assert.equal(decideOutcome({ servers: [] }, now).act, "retire_source");
  });

  test("makes the code valid again when the target's quota is exceeded", () => {
    const plan = { act: "return_code", error: quota, state: "code_issued", requeueAt: null };
    assert.deepEqual(decideOutcome({ error: quota }, now), plan);
  });

  for (const error of [away, new Error("the database is gone"), "no error at all"])
    test(`lets the redemption be resumed at once after ${String(error)}`, () => {
      const plan = { act: "release_lease", error, state: "redeeming", requeueAt: now };
      assert.deepEqual(decideOutcome({ error }, now), plan);
    });
});
