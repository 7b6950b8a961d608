// How a Job ended, read from the log of its pod (libs/world task.ts).

import { isKubeError, type Job, type Kube, readPodLog, resources } from "@svc/kube";
import {
  Progress,
  progressMark,
  resultMark,
  type TaskDone,
  type TaskFault,
  TaskResult,
} from "@svc/proto/world-task";
import { isJobFinished } from "@svc/world-lock";
import { annotation } from "./names.ts";
import { container } from "./spec.ts";

export type Outcome =
  | { kind: "done"; done: TaskDone }
  /** The task itself failed with a fault. */
  | { kind: "refused"; fault: TaskFault }
  /** It ended without a result: killed, past its deadline, crashed, or its log is gone. */
  | { kind: "broken"; message: string };

/** A Job: missing, still running, or how it ended. */
export type JobState = "none" | "running" | Outcome;

/** Why a Job failed; undefined when it succeeded. Pure. */
export function failureOf(outcome: Outcome): string | undefined {
  if (outcome.kind === "refused") return outcome.fault.message;
  return outcome.kind === "broken" ? outcome.message : undefined;
}

type LogDeps = {
  kube: Pick<Kube, "list" | "transport">;
  namespace: string;
  lineBytes: number;
  signal?: AbortSignal;
};

const tailLines = 100;

/** Throws `unavailable` when the cluster is down. */
export async function observeJob(
  deps: LogDeps & { kube: Pick<Kube, "find"> },
  name: string,
): Promise<JobState> {
  const { namespace } = deps;
  const job = await deps.kube.find(resources.jobs, { name, namespace });
  return job ? ((await readOutcome(deps, job)) ?? "running") : "none";
}

/** Undefined while the Job has not ended. Throws `unavailable` when the cluster is down. */
export async function readOutcome(deps: LogDeps, job: Job): Promise<Outcome | undefined> {
  if (!isJobFinished(job)) return undefined;
  const lines = await readLines(deps, job.metadata.name);
  const result = findLastMarked(lines, resultMark, TaskResult);
  if (result)
    return result.ok ? { kind: "done", done: result.done } : { kind: "refused", fault: result.fault };
  return { kind: "broken", message: describeFailure(job, lines) };
}

/** The newest progress of a Job; undefined before the first. */
export async function readProgress(deps: LogDeps, job: string): Promise<Progress | undefined> {
  return findLastMarked(await readLines(deps, job), progressMark, Progress);
}

async function readLines({ kube, namespace, lineBytes, signal }: LogDeps, job: string): Promise<string[]> {
  const labelSelector = `job-name=${job}`;
  const { items: pods } = await kube.list(resources.pods, {
    namespace,
    labelSelector,
    ...(signal && { signal }),
  });
  const lines: string[] = [];
  for (const { metadata } of pods) {
    const about = {
      namespace,
      name: metadata.name,
      container,
      tailLines,
      lineBytes,
      ...(signal && { signal }),
    };
    try {
      for await (const group of readPodLog(kube.transport, about))
        for (const { line } of group) lines.push(line.toString("utf8"));
    } catch (error) {
      // The pod is gone, or its container never started.
      if (!isKubeError(error, 404) && !isKubeError(error, 400)) throw error;
    }
  }
  return lines;
}

type Parser<T> = { safeParse: (value: unknown) => { success: true; data: T } | { success: false } };

function findLastMarked<T>(lines: readonly string[], mark: string, shape: Parser<T>): T | undefined {
  for (const line of lines.toReversed()) {
    if (!line.startsWith(mark)) continue;
    const parsed = shape.safeParse(json(line.slice(mark.length)));
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const maxMessageLength = 500;

function describeFailure({ metadata, status }: Job, lines: readonly string[]): string {
  // FailureTarget has the reason while the pod is still terminating; Failed follows.
  const failed = status?.conditions?.filter(
    ({ type, status: is }) => /^Fail(ed|ureTarget)$/.test(type) && is === "True",
  );
  if (failed?.some(({ reason }) => reason === "DeadlineExceeded")) {
    const why = metadata.annotations?.[annotation.waitsBecause];
    return `the job exceeded its deadline${why === undefined ? "" : `; its pod had no node: ${why}`}`;
  }
  const words = lines.filter((line) => !line.startsWith(progressMark) && line.trim() !== "").at(-1);
  // Output of a container is shown to people: no control characters.
  const clean = (words ?? "").replaceAll(/\p{Cc}/gu, " ").trim();
  return clean.slice(0, maxMessageLength) || "the job ended without a message";
}
