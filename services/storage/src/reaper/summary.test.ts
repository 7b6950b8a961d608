import assert from "node:assert/strict";
import { test } from "node:test";
import { emptySummary, isGood, type SummaryKey, summaryKeys, summaryLine } from "./summary.ts";

test("the line has every key in the order of docs/reference/reaper.md#summary", () => {
  assert.equal(
    summaryLine({ ...emptySummary(), evaluated: 12, warned: 2 }),
    "svc reaper: evaluated=12 reaped=0 released=0 deleted=0 awaiting_offsite=0 awaiting_stop=0 warned=2 skipped=0 " +
      "store_full=0 evicted=0 expired=0 expire_failed=0 verified=0 corrupt=0 verify_failed=0 swept=0 orphan_archives=0",
  );
});

test("only results that need attention fail a run", () => {
  const bad: SummaryKey[] = ["skipped", "expire_failed", "corrupt", "verify_failed"];
  for (const key of summaryKeys) {
    assert.equal(isGood({ ...emptySummary(), [key]: 1 }, true), !bad.includes(key), key);
  }
  assert.equal(isGood(emptySummary(), false), false);
});
