import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideOrigin, type Observed, type Plan } from "./decide.ts";

const broken = { code: "volume_full", message: "no room" } as const;
const base: Observed = {
  ...{ state: "restoring", clone: "at_rest", isRetiring: false, isLate: false, job: "none", backup: "sound" },
};
const end = (state: "done" | "given_up", unlocks: boolean): Plan => ({ action: "end", state, unlocks });

const table: readonly (readonly [fact: string, observed: Partial<Observed>, plan: Plan | string])[] = [
  ["the backup is restored", {}, "start-restore"],
  ["a running restore is waited for", { job: "under_way" }, "wait"],
  ["a clone that the operator has not seen yet is waited for", { clone: "unsettled" }, "wait"],
  ["a clone that never comes to rest", { clone: "unsettled", isLate: true }, "copy_failed"],
  ["a restore that takes long is waited for", { job: "under_way", isLate: true }, "wait"],
  ["a restored world unlocks the clone", { job: "succeeded" }, end("done", true)],
  [
    "a clone that a dead process has unlocked is done",
    { job: "succeeded", clone: "unlocked" },
    end("done", false),
  ],
  ["a failed restore leaves the clone locked", { job: broken }, { action: "fail", failure: broken }],
  ["a backup that has expired meanwhile", { backup: "none" }, "backup_gone"],
  ["a backup that turned out corrupt", { backup: "corrupt" }, "backup_gone"],
  ["an incomplete backup that was asked for is restored", { backup: "incomplete" }, "start-restore"],
  ["a clone that is gone", { clone: "gone" }, end("given_up", false)],
  [
    "a clone that is gone although its world was restored",
    { clone: "gone", job: "succeeded" },
    end("given_up", false),
  ],
  ["a clone that somebody unlocked", { clone: "unlocked" }, end("given_up", false)],
  ["a clone that is being deleted is unlocked for the reaper", { isRetiring: true }, end("given_up", true)],
  ["a deletion waits for the Job that writes the world", { isRetiring: true, job: "under_way" }, "wait"],
  ["a new backup is made", { state: "backing_up", backup: "none" }, "start-backup"],
  ["a new backup is waited for", { state: "backing_up", job: "under_way" }, "wait"],
  ["a new backup is used", { state: "backing_up", job: "succeeded" }, "use-backup"],
  [
    "a new backup that lacks files",
    { state: "backing_up", job: "succeeded", backup: "incomplete" },
    "backup_incomplete",
  ],
  [
    "a new backup that is gone again",
    { state: "backing_up", job: "succeeded", backup: "none" },
    "backup_gone",
  ],
  ["a backup that failed", { state: "backing_up", job: broken }, { action: "fail", failure: broken }],
  ["a failed clone waits for somebody", { state: "failed", job: broken }, "wait"],
  [
    "a failed clone that is being deleted",
    { state: "failed", isRetiring: true, job: broken },
    end("given_up", true),
  ],
  ["a failed clone that is gone", { state: "failed", clone: "gone" }, end("given_up", false)],
];

describe("the next step of a world on its way to a clone", () => {
  for (const [fact, observed, expected] of table) {
    test(fact, () => {
      const plan = decideOrigin({ ...base, ...observed });
      if (typeof expected !== "string") assert.deepEqual(plan, expected);
      else assert.equal(plan.action === "fail" ? plan.failure.code : plan.action, expected);
    });
  }

  test("nothing but a restored world or a deletion unlocks a clone", () => {
    for (const state of ["backing_up", "restoring", "failed"] as const)
      for (const clone of ["gone", "unlocked", "unsettled", "at_rest"] as const)
        for (const job of ["none", "under_way", "succeeded", broken] as const)
          for (const backup of ["none", "sound", "incomplete", "corrupt"] as const)
            for (const isRetiring of [false, true]) {
              const plan = decideOrigin({ state, clone, job, backup, isRetiring, isLate: true });
              if (plan.action !== "end" || !plan.unlocks) continue;
              const isRestored = plan.state === "done" && state === "restoring" && job === "succeeded";
              assert.ok(isRestored || (isRetiring && plan.state === "given_up" && job !== "under_way"));
            }
  });
});
