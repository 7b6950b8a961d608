// Which run of a server's container has ended, and whether anybody had asked for it (docs/reference/crashes.md#what). Pure.

import type { Pod } from "@svc/kube";
import { conditionOf } from "../cluster/condition.ts";
import type { Server } from "../cluster/resource.ts";
import { hungRunOf } from "./hung-run.ts";

export type EndedRun = {
  /** The same for everybody who sees this end, and of no other run. */
  key: string;
  exitCode?: number | undefined;
  /** As the cluster says it. */
  reason: string;
  startedAt: Date;
  endedAt: Date;
  /** Its process still runs, but does not answer. */
  hangs?: true;
};

type Terminated = NonNullable<ContainerState["terminated"]>;
type ContainerState = NonNullable<
  NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]["state"]
>;

/** The newest end that was not asked for; undefined when there is none, or too little is known of it. */
export function endedRunOf(pod: Pod): EndedRun | undefined {
  const evicted = evictionOf(pod);
  const { state, lastState } = pod.status?.containerStatuses?.[0] ?? {};
  const ends = [state?.terminated, lastState?.terminated].flatMap((end) => end ?? []);
  const [end] = ends.filter((one) => !wasAskedFor(pod, one));
  const run = end && runOf(pod, end);
  if (!evicted) return run;
  return run ? { ...run, reason: evicted.reason } : evicted;
}

/** A run that was given up although its process runs: it had answered, and did not within the deadline of a start. */
export function hangOf({ status = {} }: Pick<Server, "status">, pod: Pod): EndedRun | undefined {
  const isGivenUp = conditionOf(status.conditions, "Ready")?.reason === "ReadinessTimeout";
  const run = status.phase === "Failed" && isGivenUp ? hungRunOf(status, pod) : undefined;
  if (!run) return undefined;
  const { startedAt, lostAt } = run;
  const key = `${pod.metadata.uid ?? ""} ${startedAt.toISOString()} hung ${lostAt.toISOString()}`;
  return { key, reason: "", startedAt, endedAt: lostAt, hangs: true };
}

/** Which log of the container is that of the run; undefined when neither is any more. */
export function logOf(pod: Pod, { key, hangs, startedAt }: EndedRun): "current" | "previous" | undefined {
  const { state, lastState } = pod.status?.containerStatuses?.[0] ?? {};
  if (hangs)
    return Date.parse(state?.running?.startedAt ?? "") === startedAt.getTime() ? "current" : undefined;
  const isIt = (end: Terminated | undefined) => end !== undefined && runOf(pod, end)?.key === key;
  if (isIt(state?.terminated)) return "current";
  if (!isIt(lastState?.terminated)) return undefined;
  // While a container waits to be restarted, the log of the run that has ended is still the current one.
  return state?.running ? "previous" : "current";
}

function runOf({ metadata }: Pod, { exitCode, reason, startedAt, finishedAt, containerID }: Terminated) {
  const endedAt = new Date(finishedAt ?? "");
  const startedOrEnded = new Date(startedAt ?? finishedAt ?? "");
  if (Number.isNaN(endedAt.getTime()) || Number.isNaN(startedOrEnded.getTime())) return undefined;
  return {
    key: `${metadata.uid ?? ""} ${containerID || startedOrEnded.toISOString()}`,
    exitCode,
    reason: reason ?? "",
    startedAt: startedOrEnded,
    endedAt,
  };
}

/** Stopping, restarting and moving a server delete its pod; only what ended before that is a crash. */
function wasAskedFor({ metadata }: Pod, { finishedAt }: Terminated): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  if (deletionTimestamp === undefined) return false;
  const askedAt = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;
  return !(Date.parse(finishedAt ?? "") < askedAt);
}

/** The node threw the pod out because it ran short of something; its containers may be unknown. */
function evictionOf({ metadata, status }: Pod): EndedRun | undefined {
  if (status?.phase !== "Failed" || status.reason !== "Evicted") return undefined;
  const begin = new Date(status.startTime ?? metadata.creationTimestamp ?? "");
  if (Number.isNaN(begin.getTime())) return undefined;
  return { key: `${metadata.uid ?? ""} evicted`, reason: "Evicted", startedAt: begin, endedAt: begin };
}
