import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pod } from "../objects.ts";
import type { Job } from "./decide.ts";
import { decide, TRACKING } from "./decide.ts";

const NOW_MS = Date.parse("2026-01-01T12:00:00Z");

function jobOf(spec: Partial<Job["spec"]> = {}, status: Job["status"] = {}): Job {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "backup", namespace: "games", uid: "job-uid" },
    spec: {
      template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
      ...spec,
    },
    status,
  };
}

type PodOptions = {
  phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  tracked?: boolean;
  deleted?: boolean;
};

function podOf(uid: string, { phase = "Running", tracked = true, deleted = false }: PodOptions = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: uid,
      namespace: "games",
      uid,
      ...(tracked ? { finalizers: [TRACKING] } : {}),
      ...(deleted ? { deletionTimestamp: "2026-01-01T11:59:00Z" } : {}),
    },
    spec: { nodeName: "local-1", containers: [] },
    status: { phase },
  };
}

const plan = (job: Job, pods: Pod[]) => decide({ job, pods, nowMs: NOW_MS, backoffMs: 10_000 });
const conditions = (status: Record<string, unknown>) =>
  ((status["conditions"] ?? []) as { type: string; reason: string }[]).map(
    ({ type, reason }) => `${type} ${reason}`,
  );

/** Applies each plan and removes the finalizer of released pods, until the Job has nothing left to do. */
function settle(job: Job, pods: Pod[]): Job {
  let current = job;
  let left = pods;
  for (let round = 0; round < 6; round += 1) {
    const { status, release } = plan(current, left);
    current = { ...current, status: { ...current.status, ...status } };
    left = left.map((pod) =>
      release.includes(pod)
        ? podOf(pod.metadata.name, { phase: pod.status?.phase ?? "Failed", tracked: false })
        : pod,
    );
  }
  return current;
}

describe("a Job", () => {
  it("starts as many pods as parallelism allows and completions need", () => {
    assert.equal(plan(jobOf(), []).create.length, 1);
    assert.equal(plan(jobOf({ parallelism: 3, completions: 2 }), []).create.length, 2);
    assert.equal(plan(jobOf({ parallelism: 3, completions: 5 }), [podOf("a")]).create.length, 2);
  });

  it("starts nothing while it is suspended and ends the pods it has", () => {
    const { create, delete: gone } = plan(jobOf({ suspend: true }), [podOf("a")]);
    assert.deepEqual([create.length, gone.length], [0, 1]);
  });

  it("is complete when enough pods succeeded, each counted once", () => {
    const { status } = settle(jobOf(), [podOf("a", { phase: "Succeeded" })]);
    assert.equal(status?.succeeded, 1);
    assert.deepEqual(conditions(status ?? {}), [
      "SuccessCriteriaMet CompletionsReached",
      "Complete CompletionsReached",
    ]);
    assert.equal(status?.completionTime, "2026-01-01T12:00:00Z");
  });

  it("does not count a pod twice that it recorded before a crash", () => {
    const job = jobOf({}, { succeeded: 0, uncountedTerminatedPods: { succeeded: ["a"], failed: [] } });
    const { status } = plan(job, [podOf("a", { phase: "Succeeded" })]);
    assert.deepEqual(status["uncountedTerminatedPods"], { succeeded: ["a"], failed: [] });
    assert.equal(status["succeeded"], 0);
  });

  it("fails when more pods failed than the backoff limit allows", () => {
    const { status } = settle(jobOf({ backoffLimit: 0 }), [podOf("a", { phase: "Failed" })]);
    assert.equal(status?.failed, 1);
    assert.deepEqual(conditions(status ?? {}), [
      "FailureTarget BackoffLimitExceeded",
      "Failed BackoffLimitExceeded",
    ]);
  });

  it("starts no pod between the last failure and its counting", () => {
    assert.equal(plan(jobOf({ backoffLimit: 0 }), [podOf("a", { phase: "Failed" })]).create.length, 0);
  });

  it("waits longer after each failure", () => {
    const failed = podOf("a", { phase: "Failed", tracked: false });
    const end = { exitCode: 1, reason: "Error", startedAt: "", finishedAt: "2026-01-01T11:59:55Z" };
    const container = {
      name: "c",
      image: "",
      imageID: "",
      restartCount: 0,
      ready: false,
      started: false,
      lastState: {},
    };
    failed.status = { phase: "Failed", containerStatuses: [{ ...container, state: { terminated: end } }] };
    const once = plan(jobOf({}, { failed: 1 }), [failed]);
    assert.deepEqual([once.create.length, once.requeueMs], [0, 5000]);
    assert.equal(plan(jobOf({}, { failed: 2 }), [failed]).requeueMs, 15_000);
  });

  it("ends its pods at the deadline and is Failed only when they are gone", () => {
    const job = jobOf({ activeDeadlineSeconds: 60 }, { startTime: "2026-01-01T11:59:00Z" });
    const first = plan(job, [podOf("a")]);
    assert.equal(first.delete.length, 1);
    assert.deepEqual(conditions(first.status), ["FailureTarget DeadlineExceeded"]);
    const after = { ...job, status: { ...job.status, ...first.status } };
    assert.deepEqual(
      conditions(settle(after, [podOf("a", { phase: "Failed", deleted: true })]).status ?? {}),
      ["FailureTarget DeadlineExceeded", "Failed DeadlineExceeded"],
    );
  });

  it("is requeued exactly at its deadline", () => {
    const job = jobOf({ activeDeadlineSeconds: 90 }, { startTime: "2026-01-01T11:59:00Z" });
    assert.equal(plan(job, [podOf("a")]).requeueMs, 30_000);
  });

  it("is removed when its time to live after the end has passed", () => {
    const ended = { type: "Complete", status: "True" as const, lastTransitionTime: "2026-01-01T11:59:30Z" };
    assert.equal(plan(jobOf({ ttlSecondsAfterFinished: 30 }, { conditions: [ended] }), []).removeJob, true);
    const early = plan(jobOf({ ttlSecondsAfterFinished: 45 }, { conditions: [ended] }), []);
    assert.deepEqual([early.removeJob, early.requeueMs], [false, 15_000]);
  });

  it("counts the restarts of containers when its pods restart on failure", () => {
    const job = jobOf({
      backoffLimit: 1,
      template: { spec: { restartPolicy: "OnFailure", containers: [] } },
    });
    const pod = podOf("a");
    const container = {
      name: "c",
      image: "",
      imageID: "",
      ready: false,
      started: false,
      state: {},
      lastState: {},
    };
    pod.status = { phase: "Running", containerStatuses: [{ ...container, restartCount: 2 }] };
    assert.deepEqual(conditions(plan(job, [pod]).status), ["FailureTarget BackoffLimitExceeded"]);
  });
});
