// The steps of a build as its pod shows them. Pure.

import type { ContainerStatus, Pod } from "@svc/kube";
import { builds } from "@svc/proto";

export type StepFailure = { step: builds.BuildStep; message: string };

const names = builds.BuildStep.options;

/** All steps of a new build or scan. */
export function newSteps(hasEgressGate: boolean, kind: builds.BuildKind = "build"): builds.StepProgress[] {
  return builds.stepsOfKind[kind].map((name) => ({
    name,
    state: name === "egress-gate" && !hasEgressGate ? "skipped" : "pending",
  }));
}

/** Statuses of the containers by name. */
export function statusesOf({ status }: Pod): Map<string, ContainerStatus> {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return new Map(all.map((one) => [one.name, one]));
}

/** The steps with what the pod shows; what it does not show any more stays as it was. */
export function stepsOf(pod: Pod, known: readonly builds.StepProgress[]): builds.StepProgress[] {
  const statuses = statusesOf(pod);
  return known.map((step) => {
    const status = statuses.get(step.name);
    return status ? stepOf(step, status) : step;
  });
}

function stepOf(known: builds.StepProgress, { state }: ContainerStatus): builds.StepProgress {
  const { name } = known;
  if (state?.running) return { name, state: "running", ...times(state.running) };
  if (state?.terminated) {
    const { exitCode } = state.terminated;
    return { name, state: exitCode === 0 ? "succeeded" : "failed", ...times(state.terminated) };
  }
  return known;
}

function times({ startedAt, finishedAt }: { startedAt?: string; finishedAt?: string }) {
  return {
    ...(startedAt && { startedAt: new Date(startedAt).toISOString() }),
    ...(finishedAt && { finishedAt: new Date(finishedAt).toISOString() }),
  };
}

/** The steps of a build that ended: what ran has failed unless it was done, and the rest never comes. */
export function endedSteps(steps: readonly builds.StepProgress[], at: string): builds.StepProgress[] {
  return steps.map((step) => {
    if (step.state === "pending") return { ...step, state: "skipped" };
    return step.state === "running" ? { ...step, state: "failed", finishedAt: at } : step;
  });
}

/** The step that runs, or the first that has not ended. */
export function currentStep(steps: readonly builds.StepProgress[]): builds.BuildStep | undefined {
  const of = (state: builds.StepProgress["state"]) => steps.find((step) => step.state === state)?.name;
  return of("running") ?? of("pending");
}

const longestMessage = 1_000;

/** Text of a container for people: one line without control characters. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, longestMessage);
}

/** Why the pod did not do its work, as far as it shows it. */
export function failureIn(pod: Pod): StepFailure | undefined {
  const statuses = statusesOf(pod);
  for (const step of names) {
    const ended = statuses.get(step)?.state?.terminated;
    if (!ended || ended.exitCode === 0) continue;
    const message = plainText(ended.message ?? "");
    if (ended.reason === "OOMKilled") return { step, message: "it ran out of memory" };
    return { step, message: message || `it ended with exit code ${ended.exitCode} and without a message` };
  }
  return undefined;
}

/** `isStuck`: it waits for what rarely comes by itself, such as an image that is not there. */
export type StepWait = StepFailure & { isStuck: boolean };

const stuck =
  /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|CreateContainer(Config)?Error)$/;

/** What the pod waits for, as far as it is not what every pod waits for. */
export function waitIn(pod: Pod): StepWait | undefined {
  const statuses = statusesOf(pod);
  for (const step of names) {
    const waiting = statuses.get(step)?.state?.waiting;
    const isUsual = !waiting?.reason || /^(PodInitializing|ContainerCreating)$/.test(waiting.reason);
    if (isUsual) continue;
    const { reason = "", message = "" } = waiting;
    return { step, message: plainText(`${reason}: ${message}`), isStuck: stuck.test(reason) };
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False") return undefined;
  const message = plainText(`${scheduled.reason ?? "Unschedulable"}: ${scheduled.message ?? ""}`);
  return { step: "context-fetch", message, isStuck: false };
}
