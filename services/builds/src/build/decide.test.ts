import assert from "node:assert/strict";
import { test } from "node:test";
import type { buildJobs, builds } from "@svc/proto";
import { decideBuild, isOverdue, type ObservedBuild } from "./decide.ts";
import { newSteps } from "./steps.ts";

const now = Date.parse("2026-11-22T20:30:00Z");
const minutes = (count: number) => new Date(now - count * 60_000);

const summary = {
  policy: { fail_on: ["CRITICAL" as const], fail_unfixed: false },
  blocked: false,
  packages: 1,
  counts: {},
  blocking_counts: {},
  findings: [],
};
const verdict: buildJobs.Verdict = { scanned_at: "2026-11-22T20:20:00.000Z", summary };
const finding = (id: string) =>
  ({ id, kind: "vulnerability", severity: "CRITICAL", target: "a", blocking: true }) as const;
const blocked: buildJobs.Verdict = {
  ...verdict,
  summary: {
    ...summary,
    blocked: true,
    blocking_counts: { CRITICAL: 6, HIGH: 1 },
    findings: [1, 2, 3, 4, 5, 6].map((number) => finding(`CVE-${number}`)),
  },
};
const push: buildJobs.PushResult = { digest: `sha256:${"a".repeat(64)}`, bytes: 1 };
const at = (step: builds.BuildStep, state: builds.StepProgress["state"]) =>
  newSteps(false).map((one) => (one.name === step ? { ...one, state } : one));

const usual: ObservedBuild = {
  kind: "build",
  status: "building",
  isLaunched: true,
  startedAt: minutes(10),
  job: "active",
  steps: at("build", "running"),
  now,
  deadlineMs: 1_800_000,
  patienceMs: 300_000,
};
const pull = { step: "scan", message: "ErrImagePull: no such image", isStuck: true } as const;

type Row = [observed: Partial<ObservedBuild>, status: builds.BuildStatus, effects: string, error?: string];
const done = { job: "complete", steps: at("push", "succeeded") } as const;
const lateText = "build: the build exceeded its deadline of 30 minutes";

const table: Record<string, Row> = {
  "one that waits for a slot waits": [{ status: "pending", startedAt: null }, "pending", ""],
  "one whose Job was never known is launched": [{ isLaunched: false, job: "missing" }, "building", "launch"],
  "one whose Job is there but may lack its Secret is launched again": [
    { isLaunched: false },
    "building",
    "launch",
  ],
  "one that runs goes on": [{}, "building", ""],
  "one whose Job is gone has failed": [
    { job: "missing" },
    "failed",
    "record",
    "the build's Job is gone; somebody deleted it",
  ],
  "a Job that ended at its deadline has failed at its step": [{ job: "late" }, "failed", "record", lateText],
  "one that runs on long after its deadline is ended": [
    { startedAt: minutes(32) },
    "failed",
    "record remove-job",
    lateText,
  ],
  "one that was never launched until its deadline has failed": [
    { isLaunched: false, job: "missing", startedAt: minutes(32), steps: newSteps(false) },
    "failed",
    "record",
    "the build exceeded its deadline of 30 minutes",
  ],
  "one that waited for an image until its deadline says so": [
    { job: "late", wait: { step: "scan", message: "ErrImagePull: no such image", isStuck: true } },
    "failed",
    "record",
    "scan: the build exceeded its deadline of 30 minutes: ErrImagePull: no such image",
  ],
  "one whose image can't be pulled for long has failed, before its deadline": [
    { wait: pull },
    "failed",
    "record remove-job",
    "scan: ErrImagePull: no such image",
  ],
  "one whose image can't be pulled since a moment waits": [
    { wait: pull, startedAt: minutes(4) },
    "building",
    "",
  ],
  "one that waits for a node waits on": [{ wait: { ...pull, isStuck: false } }, "building", ""],
  "one that was done just before its deadline counts": [
    { ...done, verdict, push, startedAt: minutes(32) },
    "succeeded",
    "seal",
  ],
  "a failed step is the error": [
    { job: "failed", failure: { step: "build", message: "no space" } },
    "failed",
    "record",
    "build: no space",
  ],
  "a verdict that blocks names at most five findings": [
    { job: "failed", verdict: blocked, failure: { step: "scan-gate", message: "blocked" } },
    "failed",
    "record",
    "scan-gate: the scan blocked the image: 6 CRITICAL, 1 HIGH (CVE-1, CVE-2, CVE-3, CVE-4, CVE-5, ...)",
  ],
  "a verdict that blocks wins over a push that happened": [
    { ...done, verdict: blocked, push },
    "failed",
    "record",
    "scan-gate: the scan blocked the image: 6 CRITICAL, 1 HIGH (CVE-1, CVE-2, CVE-3, CVE-4, CVE-5, ...)",
  ],
  "an evicted pod says why": [
    { job: "failed", podMessage: "Evicted: ephemeral storage is low" },
    "failed",
    "record",
    "build: Evicted: ephemeral storage is low",
  ],
  "a failed Job without its pod has failed": [
    { job: "failed" },
    "failed",
    "record",
    "build: the pod is gone",
  ],
  "a complete Job without a verdict has failed": [
    { ...done, push },
    "failed",
    "record",
    "scan-gate: it left no verdict; the image is not whitelisted",
  ],
  "a complete Job without a digest has failed": [
    { ...done, verdict },
    "failed",
    "record",
    "push: it left no digest; the image is not whitelisted",
  ],
  "a verdict and a digest are a success": [{ ...done, verdict, push }, "succeeded", "seal"],
  "a scan that found nothing that blocks is a success": [
    { kind: "scan", job: "complete", steps: newSteps(false, "scan"), verdict },
    "succeeded",
    "record",
  ],
  "a scan that found what blocks is a success too, and nothing is allowed by it": [
    {
      kind: "scan",
      job: "failed",
      verdict: blocked,
      failure: { step: "scan-gate", message: "the scan blocked the image" },
    },
    "succeeded",
    "record",
  ],
  "a scan without a verdict has failed": [
    { kind: "scan", job: "failed", failure: { step: "pull", message: "it is not in the registry" } },
    "failed",
    "record",
    "pull: it is not in the registry",
  ],
  "what is left of a cancelled one is removed": [{ status: "cancelled" }, "cancelled", "remove-job"],
  "an end is never changed": [{ status: "failed", ...done, verdict, push }, "failed", ""],
};

for (const [fact, [observed, status, effects, error]] of Object.entries(table)) {
  test(`build: ${fact}`, () => {
    const plan = decideBuild({ ...usual, ...observed });
    assert.deepEqual([plan.status, plan.effects.join(" "), plan.error], [status, effects, error]);
  });
}

test("steps of a build that failed have all ended", () => {
  const { steps } = decideBuild({ ...usual, job: "missing" });
  assert.deepEqual(
    steps.map(({ state }) => state),
    ["skipped", "skipped", "failed", "skipped", "skipped", "skipped", "skipped"],
  );
});

test("a registry is asked for as long as the deadline, and a minute", () => {
  const after = (count: number) => isOverdue({ ...usual, ...done, startedAt: minutes(count) });
  assert.deepEqual([after(30), after(32), isOverdue({ ...usual, startedAt: null })], [false, true, false]);
});
