// What is known of a build and its Job, and what follows (docs/glossary.md: observe, decide, act). Pure.
//
// pending  -> building    a slot is free; decided for all builds together (queue.ts)
// building -> building    its Job is created, again after a crash; then it runs
//          -> succeeded   the Job is complete, with a verdict that does not block and a pushed digest (seal.ts)
//          -> failed      a step failed, the scan blocked the image, the deadline passed, or the Job is gone
//          -> succeeded   of a scan: the Job left a verdict
//          -> cancelled   by request (cancel.ts); what is left of its Job is removed here

import type { buildJobs, builds } from "@svc/proto";
import { endedSteps, type StepFailure, type StepWait } from "./steps.ts";

export type ObservedBuild = {
  kind: builds.BuildKind;
  status: builds.BuildStatus;
  /** Whether its Job and Secret were known to be there. */
  isLaunched: boolean;
  startedAt: Date | null;
  job: "missing" | "active" | "complete" | "failed" | "late";
  steps: readonly builds.StepProgress[];
  /** The step that failed. */
  failure?: StepFailure | undefined;
  /** What a step waits for. */
  wait?: StepWait | undefined;
  /** Why the pod was ended from outside, for example evicted. */
  podMessage?: string | undefined;
  verdict?: buildJobs.Verdict | undefined;
  push?: buildJobs.PushResult | undefined;
  /** What it was built FROM. */
  built?: buildJobs.BuildResult | undefined;
  /** Of what context. */
  fetched?: buildJobs.ContextResult | undefined;
  now: number;
  deadlineMs: number;
  /** How long a step may wait for an image that can't be pulled. */
  patienceMs: number;
};

/**
 * What the shell does besides writing the status: `seal` keeps the provenance with the image, records both and tags the
 * image; `record` stores any other end with all that belongs to it.
 */
type Effect = "launch" | "seal" | "record" | "remove-job";

/** The whole new state of a build, and when it is looked at again. */
export type BuildPlan = {
  status: builds.BuildStatus;
  steps: readonly builds.StepProgress[];
  error?: string;
  effects: readonly Effect[];
  requeueMs: number | "never";
};

/** A Job ends itself at its deadline; one that could not be created or answered by then has failed as well. */
const graceMs = 60_000;
const soonMs = 1_000;

export function decideBuild(observed: ObservedBuild): BuildPlan {
  return (
    alreadyEnded(observed) ??
    notStartedYet(observed) ??
    tooLate(observed) ??
    notLaunched(observed) ??
    vanished(observed) ??
    stuckWaiting(observed) ??
    stillRunning(observed) ??
    judged(observed) ??
    withoutResult(observed) ??
    pushed(observed)
  );
}

type Rule = (observed: ObservedBuild) => BuildPlan | undefined;

const alreadyEnded: Rule = ({ status, steps, job }) => {
  if (status === "pending" || status === "building") return undefined;
  if (job !== "active") return { status, steps, effects: [], requeueMs: "never" };
  return { status, steps, effects: ["remove-job"], requeueMs: soonMs };
};

const notStartedYet: Rule = ({ status, steps }) =>
  status === "pending" ? { status, steps, effects: [], requeueMs: soonMs } : undefined;

/** Of a Job that is done in time this says how long the registry is asked. */
export function isOverdue({ startedAt, now, deadlineMs }: ObservedBuild): boolean {
  return startedAt !== null && now - startedAt.getTime() > deadlineMs + graceMs;
}

const tooLate: Rule = (observed) => {
  const { job, deadlineMs, wait } = observed;
  if (job === "complete" || job === "failed") return undefined;
  if (job !== "late" && !isOverdue(observed)) return undefined;
  const at = wait ?? running(observed);
  const cause = `the build exceeded its deadline of ${Math.round(deadlineMs / 60_000)} minutes`;
  const detail = wait && `: ${wait.message}`;
  return fail(observed, `${at ? `${at.step}: ` : ""}${cause}${detail ?? ""}`);
};

const notLaunched: Rule = ({ status, steps, isLaunched }) =>
  isLaunched ? undefined : { status, steps, effects: ["launch"], requeueMs: soonMs };

const vanished: Rule = (observed) =>
  observed.job === "missing" ? fail(observed, "the build's Job is gone; somebody deleted it") : undefined;

const stuckWaiting: Rule = (observed) => {
  const { job, wait, startedAt, steps, now, patienceMs } = observed;
  if (job !== "active" || !wait?.isStuck || startedAt === null) return undefined;
  const ends = steps.map(({ finishedAt }) => (finishedAt ? Date.parse(finishedAt) : 0));
  const since = Math.max(startedAt.getTime(), ...ends);
  return now - since > patienceMs ? fail(observed, `${wait.step}: ${wait.message}`) : undefined;
};

const stillRunning: Rule = ({ status, steps, job }) =>
  job === "active" ? { status, steps, effects: [], requeueMs: soonMs } : undefined;

/** A scan is there for its verdict, whatever that says. */
const judged: Rule = ({ kind, verdict, steps }) =>
  kind === "scan" && verdict
    ? { status: "succeeded", steps, effects: ["record"], requeueMs: "never" }
    : undefined;

const withoutResult: Rule = (observed) => {
  const { job, verdict, push, failure, podMessage } = observed;
  if (verdict?.summary.blocked) return fail(observed, `scan-gate: ${describeBlocked(verdict)}`);
  if (failure) return fail(observed, `${failure.step}: ${failure.message}`);
  if (job === "failed") {
    const step = running(observed)?.step;
    return fail(observed, `${step ? `${step}: ` : ""}${podMessage || "the pod is gone"}`);
  }
  if (!verdict) return fail(observed, "scan-gate: it left no verdict; the image is not whitelisted");
  if (!push) return fail(observed, "push: it left no digest; the image is not whitelisted");
  return undefined;
};

/** A registry that does not answer is asked again until the deadline. */
const pushed = ({ steps }: ObservedBuild): BuildPlan => ({
  status: "succeeded",
  steps,
  effects: ["seal"],
  requeueMs: "never",
});

export function fail({ steps, job, now }: ObservedBuild, error: string): BuildPlan {
  return {
    status: "failed",
    steps: endedSteps(steps, new Date(now).toISOString()),
    error,
    effects: job === "active" ? ["record", "remove-job"] : ["record"],
    requeueMs: "never",
  };
}

function running({ steps }: ObservedBuild): { step: builds.BuildStep } | undefined {
  const found = steps.find(({ state }) => state === "running" || state === "failed");
  return found && { step: found.name };
}

const idsShown = 5;

/** `the scan blocked the image: 1 CRITICAL (CVE-2026-1)` */
function describeBlocked({ summary }: buildJobs.Verdict): string {
  const counts = Object.entries(summary.blocking_counts).map(([severity, count]) => `${count} ${severity}`);
  const ids = summary.findings.filter(({ blocking }) => blocking).map(({ id }) => id);
  const shown = [...new Set(ids)].slice(0, idsShown);
  const more = new Set(ids).size > idsShown ? ", ..." : "";
  const list = shown.length > 0 ? ` (${shown.join(", ")}${more})` : "";
  return `the scan blocked the image: ${counts.join(", ") || "blocking findings"}${list}`;
}
