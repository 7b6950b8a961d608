// How far a start is and what stops it (docs/reference/server-states.md#conditions, docs/reference/server-states.md#estimate). Pure.

import type { Output } from "../api/operations.ts";

type FullStatus = Extract<Output<"servers.viewStatus">, { idleStopSeconds: number }>;
type Condition = NonNullable<FullStatus["conditions"]>[number];

/** What rows of lists and the status of a server say of a start. */
export type StartFacts = {
  phase: FullStatus["phase"];
  desiredState?: FullStatus["desiredState"] | undefined;
  startRequestedAt?: string | undefined;
  startEstimate?: FullStatus["startEstimate"] | undefined;
  conditions?: FullStatus["conditions"] | undefined;
};

/** Also between the wake and the first sign of it. */
export function isStarting({ phase, desiredState }: StartFacts): boolean {
  return phase === "Starting" || (desiredState === "Running" && (phase === "Stopped" || phase === "Unknown"));
}

export type Outlook = { kind: "unknown" | "soon" | "late" } | { kind: "about"; seconds: number };

/** What may be promised: never a count that has run out. */
export function outlookOf({ startEstimate, startRequestedAt }: StartFacts, now: number): Outlook {
  if (!startEstimate) return { kind: "unknown" };
  const elapsed = elapsedOf(startRequestedAt, now);
  const left = startEstimate.p50 - elapsed;
  if (left > 0) return { kind: "about", seconds: rounded(left) };
  return { kind: elapsed <= startEstimate.p95 ? "soon" : "late" };
}

/** So that the figure does not tremble. */
function rounded(seconds: number): number {
  const step = seconds <= 10 ? 1 : seconds <= 60 ? 5 : 10;
  return Math.ceil(seconds / step) * step;
}

function elapsedOf(startRequestedAt: string | undefined, now: number): number {
  return startRequestedAt === undefined ? 0 : Math.max(0, (now - Date.parse(startRequestedAt)) / 1_000);
}

const shareAtP50 = 0.8;
const shareAtP95 = 0.92;
const highestShare = 0.99;

/** How much of the bar is filled, 0 to 1: even up to p50, slower up to p95, then ever slower, and never full. */
export function shareOf(facts: StartFacts, now: number): number {
  const { startEstimate, startRequestedAt } = facts;
  if (!startEstimate) return shareOfSteps(facts);
  const { p50, p95 } = startEstimate;
  const elapsed = elapsedOf(startRequestedAt, now);
  if (elapsed <= p50) return (shareAtP50 * elapsed) / Math.max(1, p50);
  if (elapsed <= p95) return shareAtP50 + ((shareAtP95 - shareAtP50) * (elapsed - p50)) / (p95 - p50);
  return highestShare - (highestShare - shareAtP95) * Math.exp(-(elapsed - p95) / Math.max(1, p95));
}

// Nobody knows how long a first start takes, but what is done is done.
function shareOfSteps(facts: StartFacts): number {
  return (stepOf(facts).index + 0.5) / startSteps.length;
}

const startSteps = ["node", "volume", "image", "process", "join"] as const;
type StartStep = (typeof startSteps)[number];

/** Reasons of `PodStarted`: the step that is under way, and whether it cannot go on by itself. */
const stepsByReason: Readonly<Record<string, { step: StartStep; isFault?: true }>> = {
  PodPending: { step: "node" },
  PodUnschedulable: { step: "node", isFault: true },
  VolumePending: { step: "volume" },
  ImagePulling: { step: "image" },
  ImagePullFailed: { step: "image", isFault: true },
  ContainerFailed: { step: "process", isFault: true },
  ContainerCrashed: { step: "process", isFault: true },
  ContainerOutOfMemory: { step: "process", isFault: true },
  ContainerRunning: { step: "process" },
};
/** Reasons of `Ready` once the process accepts connections. */
const joinReasons: ReadonlySet<string> = new Set(["ServiceAddressPending", "RconNotReachable"]);

function conditionOf({ conditions }: StartFacts, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

function stepOf(facts: StartFacts): { index: number; isFault: boolean } {
  const ready = conditionOf(facts, "Ready")?.reason ?? "";
  if (joinReasons.has(ready) || ready === "ReadinessTimeout")
    return { index: startSteps.indexOf("join"), isFault: false };
  const known = stepsByReason[conditionOf(facts, "PodStarted")?.reason ?? ""];
  return { index: known ? startSteps.indexOf(known.step) : 0, isFault: known?.isFault === true };
}

type StepState = "done" | "running" | "failed" | "waiting";

export function stepStates(facts: StartFacts): { step: StartStep; state: StepState }[] {
  const { index, isFault } = stepOf(facts);
  const current = isFault || facts.phase === "Failed" ? "failed" : "running";
  return startSteps.map((step, at) => {
    if (at === index) return { step, state: current };
    return { step, state: at < index ? "done" : "waiting" };
  });
}

/** Reasons of `Ready` that people can do something about. */
const readyProblems = [
  "MaintenanceInProgress",
  "NodeUnavailable",
  "RconSecretUnavailable",
  "ForwardingSecretUnavailable",
  "StartupTimeout",
  "ReadinessTimeout",
  "InvalidSpec",
] as const;
const podProblems = [
  "PodUnschedulable",
  "ImagePullFailed",
  "ContainerFailed",
  "ContainerCrashed",
  "ContainerOutOfMemory",
] as const;
type ProblemReason = (typeof readyProblems)[number] | (typeof podProblems)[number];
/** Messages of these come from the cluster and name what exactly is wrong; the others repeat our own words. */
const detailed: ReadonlySet<ProblemReason> = new Set([
  "NodeUnavailable",
  "InvalidSpec",
  "PodUnschedulable",
  "ImagePullFailed",
  "ContainerFailed",
  "ContainerCrashed",
]);

export type Problem = { reason: ProblemReason; detail: string | undefined };

/** Why a server does not start; what its pod says comes before the time that ran out because of it. */
export function problemOf(facts: StartFacts): Problem | undefined {
  const [pod, ready] = [conditionOf(facts, "PodStarted"), conditionOf(facts, "Ready")];
  const found = problemIn(pod, podProblems) ?? problemIn(ready, readyProblems);
  if (!found) return undefined;
  const { reason, message } = found;
  return { reason, detail: detailed.has(reason) && message !== "" ? message : undefined };
}

function problemIn<Reason extends ProblemReason>(
  condition: Condition | undefined,
  reasons: readonly Reason[],
): { reason: Reason; message: string } | undefined {
  const reason = reasons.find((one) => one === condition?.reason);
  return condition && reason && { reason, message: condition.message };
}
