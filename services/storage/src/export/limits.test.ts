import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { isFault } from "@svc/proto";
import { settings } from "../config.ts";
import { checkOwn, checkPlatform, limitsOf, withinWindow } from "./limits.ts";
import { decideExport } from "./reconcile.ts";

const { storage } = loadSettings(settings, { overrides: [] });
const minute = 60_000;
const hour = 60 * minute;
const now = 10 * hour;
const outcome = (check: () => void) => {
  try {
    check();
    return "ok";
  } catch (error) {
    return isFault(error) ? `${error.fault} ${error.retryAfterSeconds}` : String(error);
  }
};
const starts = (count: number, age: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `${n}`, at: now - age + n }));

describe("limits of downloads", () => {
  const exports = limitsOf("export", storage);
  const downloads = limitsOf("download", storage);
  test("backups and worlds: 1 per user, 2 on the platform, 6 within an hour", () => {
    const { perUser, platform, hourly, windowMs } = exports;
    assert.deepEqual([perUser, platform, hourly, windowMs], [1, 2, 6, hour]);
  });
  test("files and folders are counted separately: 2, 4 and 30", () => {
    const { perUser, platform, hourly } = downloads;
    assert.deepEqual([perUser, platform, hourly], [2, 4, 30]);
  });
  const cases: Record<string, [check: () => void, answer: string]> = {
    "the first may start": [() => checkOwn(exports, { starts: [], live: 0, now }), "ok"],
    "a concurrent second one is to be retried after 90 s": [
      () => checkOwn(exports, { starts: starts(1, minute), live: 1, now }),
      "export_busy 90",
    ],
    "a seventh within the hour is to be retried when the oldest is an hour old": [
      () => checkOwn(exports, { starts: starts(6, 50 * minute), live: 0, now }),
      "export_busy 600",
    ],
    "a sixth within the hour may start": [
      () => checkOwn(exports, { starts: starts(5, 50 * minute), live: 0, now }),
      "ok",
    ],
    "one user may download two files at once": [
      () => checkOwn(downloads, { starts: starts(1, minute), live: 1, now }),
      "ok",
    ],
    "on a full platform one is to be retried after 60 s": [() => checkPlatform(exports, 2), "export_busy 60"],
    "on a platform with a free slot one may start": [() => checkPlatform(exports, 1), "ok"],
  };
  for (const [name, [check, answer]] of Object.entries(cases)) {
    test(name, () => assert.equal(outcome(check), answer));
  }
  test("one that started an hour ago no longer counts", () => {
    assert.deepEqual(withinWindow(starts(1, hour), now, hour), []);
    assert.equal(withinWindow(starts(1, hour - 1), now, hour).length, 1);
  });
});

describe("the next state of an export", () => {
  type Case = [
    state: "pending" | "ready" | "streaming",
    age: number,
    job: "missing" | "running" | "ended",
    next: string,
  ];
  const cases: Record<string, Case> = {
    "an export whose Job runs is waited for": ["pending", minute, "running", "wait"],
    "an export whose Job is about to be created is waited for": ["pending", 1_000, "missing", "wait"],
    "an export whose Job was never created fails": ["pending", 2 * minute, "missing", "failed"],
    "an export whose Job ended without connecting fails": ["pending", 1_000, "ended", "failed"],
    "an export whose Job does not connect within ten minutes is spent": [
      "pending",
      10 * minute + 1,
      "running",
      "spent",
    ],
    "an export that waits for its browser is unchanged": ["ready", minute, "running", "wait"],
    "an export that nobody fetched is spent, also when its replica died": [
      "ready",
      3 * minute + 1,
      "running",
      "spent",
    ],
    "an export whose Job died while it waited is spent": ["ready", 1_000, "ended", "spent"],
    "a streaming export is unchanged, however long it takes": ["streaming", hour, "running", "wait"],
    "an export whose Job ended while streaming is spent": ["streaming", 1_000, "ended", "spent"],
    "an export whose Job is gone is spent": ["streaming", 1_000, "missing", "spent"],
  };
  for (const [name, [state, age, job, next]] of Object.entries(cases)) {
    test(name, () => {
      const at = { state, started_at: now - age, changed_at: now - age };
      assert.equal(decideExport(at, { job, now }, storage), next);
    });
  }
});
