import type { KubeObject } from "../../cluster-api.ts";
import { nameSuffix } from "../../name-suffix.ts";
import { timeText } from "../../time.ts";
import type { Condition, Pod, PodTemplate } from "../objects.ts";
import { isFinished, isReady, isTerminating } from "../objects.ts";
import { podFromTemplate } from "../template.ts";

/** Keeps a finished pod of a Job until it is counted, as Kubernetes does. */
export const TRACKING = "batch.kubernetes.io/job-tracking";

type Uncounted = { succeeded?: string[]; failed?: string[] };

export type Job = KubeObject & {
  spec: {
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
    template: PodTemplate;
  };
  status?: {
    startTime?: string;
    completionTime?: string;
    active?: number;
    succeeded?: number;
    failed?: number;
    conditions?: Condition[];
    uncountedTerminatedPods?: Uncounted;
  };
};

type Observed = { job: Job; pods: Pod[]; nowMs: number; backoffMs: number };

export type Plan = {
  create: Pod[];
  delete: Pod[];
  /** Pods that are counted in `status`; their tracking finalizer may be removed once it is written. */
  release: Pod[];
  status: Record<string, unknown>;
  removeJob: boolean;
  requeueMs?: number;
};

type Tally = {
  active: Pod[];
  succeeded: number;
  failed: number;
  uncounted: Required<Uncounted>;
  release: Pod[];
};
type Verdict = { type: "SuccessCriteriaMet" | "FailureTarget"; reason: string; message: string };

const MAX_BACKOFF_MS = 360_000;
/** How many successes a Job needs; undefined means that one success ends a work queue of parallel pods. */
function completionsOf({ spec }: Job): number | undefined {
  return spec.completions ?? (spec.parallelism === undefined ? 1 : undefined);
}

const isTracked = (pod: Pod) => pod.metadata.finalizers?.includes(TRACKING) ?? false;
const holds = (job: Job, type: string) =>
  job.status?.conditions?.some((one) => one.type === type && one.status === "True") ?? false;

/** A deleted pod without a node counts as ended: no agent will ever report its status. */
function outcomeOf(pod: Pod): "succeeded" | "failed" | undefined {
  if (pod.status?.phase === "Succeeded") return "succeeded";
  if (pod.status?.phase === "Failed") return "failed";
  return isTerminating(pod) && pod.spec.nodeName === undefined ? "failed" : undefined;
}

/**
 * Each finished pod is counted once: its uid is first recorded in the status, then its finalizer is removed, and only
 * when that
 * is observed is the uid replaced by a count. A crash between two of these steps repeats a step and never a count.
 */
function tally({ job, pods }: Observed): Tally {
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid ?? "", pod]));
  const noted = job.status?.uncountedTerminatedPods ?? {};
  const counts = { succeeded: job.status?.succeeded ?? 0, failed: job.status?.failed ?? 0 };
  const uncounted: Required<Uncounted> = { succeeded: [], failed: [] };
  const release: Pod[] = [];
  for (const kind of ["succeeded", "failed"] as const) {
    for (const uid of noted[kind] ?? []) {
      if (tracked.has(uid)) uncounted[kind].push(uid);
      else counts[kind] += 1;
    }
  }
  for (const [uid, pod] of tracked) {
    const outcome = outcomeOf(pod);
    if (outcome === undefined) continue;
    if (!uncounted.succeeded.includes(uid) && !uncounted.failed.includes(uid)) uncounted[outcome].push(uid);
    release.push(pod);
  }
  const active = pods.filter((pod) => outcomeOf(pod) === undefined);
  return {
    active,
    uncounted,
    release,
    succeeded: counts.succeeded,
    failed: counts.failed,
  };
}

function judge({ job, nowMs }: Observed, { active, succeeded, failed }: Tally): Verdict | undefined {
  const { backoffLimit = 6, activeDeadlineSeconds } = job.spec;
  const completions = completionsOf(job);
  const restarts = active
    .flatMap((pod) => pod.status?.containerStatuses ?? [])
    .reduce((sum, one) => sum + one.restartCount, 0);
  const retries = failed + (job.spec.template.spec.restartPolicy === "OnFailure" ? restarts : 0);
  if (retries > backoffLimit) {
    return {
      type: "FailureTarget",
      reason: "BackoffLimitExceeded",
      message: "Job has reached the specified backoff limit",
    };
  }
  const startedMs = Date.parse(job.status?.startTime ?? timeText(nowMs));
  const done = completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions;
  if (done) {
    return {
      type: "SuccessCriteriaMet",
      reason: "CompletionsReached",
      message: "Reached expected number of succeeded pods",
    };
  }
  if (activeDeadlineSeconds !== undefined && nowMs - startedMs >= activeDeadlineSeconds * 1000) {
    return {
      type: "FailureTarget",
      reason: "DeadlineExceeded",
      message: "Job was active longer than specified deadline",
    };
  }
  return undefined;
}

function condition(type: string, { reason, message }: Verdict, nowMs: number): Condition {
  const at = timeText(nowMs);
  return { type, status: "True", reason, message, lastProbeTime: at, lastTransitionTime: at };
}

function podOf(job: Job): Pod {
  const { name, uid = "" } = job.metadata;
  const labels = {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  const podName = `${name.slice(0, 57)}-${nameSuffix()}`;
  const pod = podFromTemplate({ owner: job, template: job.spec.template, name: podName, labels });
  pod.metadata.finalizers = [TRACKING];
  return pod;
}

/** When the next pod may start: after k failures in a row it waits base·2^(k-1) since the last of them. */
function retryAtMs({ pods, backoffMs }: Observed, failed: number): number {
  if (failed === 0) return 0;
  const ends = pods
    .filter((pod) => pod.status?.phase === "Failed")
    .flatMap((pod) => pod.status?.containerStatuses ?? [])
    .map((one) => Date.parse(one.state.terminated?.finishedAt ?? "") || 0);
  const delayMs = Math.min(backoffMs * 2 ** Math.min(failed - 1, 16), MAX_BACKOFF_MS);
  return Math.max(0, ...ends) + delayMs;
}

function expiry({ job, nowMs }: Observed): Pick<Plan, "removeJob" | "requeueMs"> {
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined) return { removeJob: false };
  const ended = job.status?.conditions?.find((one) => one.type === "Complete" || one.type === "Failed");
  const leftMs = Date.parse(ended?.lastTransitionTime ?? "") + ttl * 1000 - nowMs;
  return leftMs <= 0 ? { removeJob: true } : { removeJob: false, requeueMs: leftMs };
}

type Pace = { create: Pod[]; delete: Pod[]; requeueMs?: number };

/** How many pods to add or remove while the Job runs. */
function pace(observed: Observed, { active, succeeded, failed, uncounted }: Tally): Pace {
  const { job, nowMs } = observed;
  const { parallelism = 1, suspend = false, activeDeadlineSeconds } = job.spec;
  const completions = completionsOf(job);
  const living = active.filter((pod) => !isTerminating(pod));
  const settled = succeeded + uncounted.succeeded.length;
  const open =
    completions === undefined ? (settled > 0 ? 0 : parallelism) : Math.max(completions - settled, 0);
  const wanted = suspend ? 0 : Math.min(parallelism, open);
  const startedMs = Date.parse(job.status?.startTime ?? "") || nowMs;
  const deadlineMs =
    activeDeadlineSeconds === undefined ? undefined : startedMs + activeDeadlineSeconds * 1000 - nowMs;
  const timed = deadlineMs === undefined || suspend ? {} : { requeueMs: deadlineMs };
  // Pods that have ended but are not counted yet come first: else one failure too many would start one more pod.
  if (uncounted.failed.length > 0) return { create: [], delete: [], ...timed };
  if (active.length >= wanted) return { create: [], delete: living.slice(wanted), ...timed };
  const waitMs = retryAtMs(observed, failed) - nowMs;
  if (waitMs > 0) return { create: [], delete: [], requeueMs: Math.min(waitMs, timed.requeueMs ?? waitMs) };
  return { create: Array.from({ length: wanted - active.length }, () => podOf(job)), delete: [], ...timed };
}

/** The conditions of the next status, with an outcome that becomes final when the last pod is gone. */
function conclude(observed: Observed, counted: Tally, verdict: Verdict): Record<string, unknown> {
  const { job, nowMs } = observed;
  const conditions = [...(job.status?.conditions ?? [])];
  if (!holds(job, verdict.type)) conditions.push(condition(verdict.type, verdict, nowMs));
  const open = counted.uncounted.failed.length + counted.uncounted.succeeded.length;
  if (counted.active.length + open > 0) return { conditions };
  const complete = verdict.type === "SuccessCriteriaMet";
  conditions.push(condition(complete ? "Complete" : "Failed", verdict, nowMs));
  return complete ? { conditions, completionTime: timeText(nowMs) } : { conditions };
}

function recorded(job: Job): Verdict | undefined {
  const one = job.status?.conditions?.find(
    (c) => c.type === "SuccessCriteriaMet" || c.type === "FailureTarget",
  );
  if (one === undefined) return undefined;
  return { type: one.type as Verdict["type"], reason: one.reason ?? "", message: one.message ?? "" };
}

/** One step of a Job: count ended pods, decide the outcome, then start or stop pods. */
export function decide(observed: Observed): Plan {
  const { job, nowMs } = observed;
  if (isTerminating(job) || holds(job, "Complete") || holds(job, "Failed")) {
    const release = observed.pods.filter((pod) => isTracked(pod) && (isTerminating(job) || isFinished(pod)));
    const end = isTerminating(job) ? { removeJob: false } : expiry(observed);
    return { create: [], delete: [], release, status: {}, ...end };
  }
  const counted = tally(observed);
  const status: Record<string, unknown> = {
    active: counted.active.filter((pod) => !isTerminating(pod)).length,
    ready: counted.active.filter(isReady).length,
    terminating: counted.active.filter(isTerminating).length,
    succeeded: counted.succeeded,
    failed: counted.failed,
    uncountedTerminatedPods: counted.uncounted,
  };
  if (job.spec.suspend !== true) status["startTime"] = job.status?.startTime ?? timeText(nowMs);
  const verdict = recorded(job) ?? judge(observed, counted);
  const base = { release: counted.release, removeJob: false };
  if (verdict === undefined) {
    const { create, ...rest } = pace(observed, counted);
    return {
      ...base,
      status: { ...status, active: Number(status["active"]) + create.length },
      create,
      ...rest,
    };
  }
  const doomed = counted.active.filter((pod) => !isTerminating(pod));
  return {
    ...base,
    status: { ...status, ...conclude(observed, counted, verdict) },
    create: [],
    delete: doomed,
  };
}
