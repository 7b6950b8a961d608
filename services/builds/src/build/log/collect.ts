// Reads the whole log of a build that ends, within bounds.

import { cleanLine, isKubeError, type Pod, readPodLog } from "@svc/kube";
import { buildJobs, type builds } from "@svc/proto";
import { type ClusterDeps, inNamespace } from "../deps.ts";
import { statusesOf } from "../steps.ts";
import { createTail, encodeLog, type LogEntry } from "./stored.ts";

type CollectDeps = Pick<ClusterDeps, "kube" | "settings" | "log">;
type Step = builds.StepProgress;

/** Of the bytes that are kept, the builder gets half and the other steps share the rest. */
const otherSteps = 12;

/** Undefined when no step ever ran. A log that can't be read must not keep the build from its end. */
export async function collectLog(
  deps: CollectDeps,
  { pod, steps }: { pod: Pod | undefined; steps: readonly Step[] },
): Promise<Buffer | undefined> {
  const entries: LogEntry[] = [];
  for (const step of steps) {
    if (!step.startedAt) continue;
    entries.push(stepEntry({ ...step, state: "running" }, step.startedAt));
    if (pod && statusesOf(pod).has(step.name)) entries.push(...(await linesOf(deps, pod, step)));
    if (step.state !== "running") entries.push(stepEntry(step, step.finishedAt ?? step.startedAt));
  }
  return entries.length > 0 ? encodeLog(entries) : undefined;
}

const secondsOf = (time: string) => Math.floor(Date.parse(time) / 1_000);

function stepEntry({ name, state, startedAt, finishedAt }: Step, at: string): LogEntry {
  const isRunning = state === "running";
  const about = { name, state, startedAt, ...(!isRunning && finishedAt && { finishedAt }) };
  return { at: secondsOf(at), event: "step", line: JSON.stringify(about) };
}

/** A failed read starts again, since what follows a gap is what explains the end of a build. */
const mostReads = 3;

async function linesOf(deps: CollectDeps, pod: Pod, step: Step): Promise<LogEntry[]> {
  for (let reads = 1; ; reads++) {
    const { entries, problem } = await readLines(deps, pod, step);
    if (problem === undefined) return entries;
    const about = { pod: pod.metadata.name, step: step.name, reads, error: problem };
    deps.log.warn(about, "reading a build's log failed");
    if (reads < mostReads) continue;
    const at = secondsOf(step.finishedAt ?? step.startedAt ?? "");
    return [...entries, { at, line: `(the rest could not be read: ${problem})` }];
  }
}

type Lines = { entries: LogEntry[]; problem?: string };

async function readLines(deps: CollectDeps, pod: Pod, { name, startedAt = "" }: Step): Promise<Lines> {
  const { log_max_bytes, log_line, log_lines } = deps.settings.builds;
  const tail = createTail(name === "build" ? log_max_bytes / 2 : log_max_bytes / otherSteps);
  const request = {
    ...inNamespace(deps),
    name: pod.metadata.name,
    container: name,
    lineBytes: log_line,
    tailLines: log_lines,
  };
  let problem: string | undefined;
  try {
    for await (const group of readPodLog(deps.kube.transport, request)) {
      for (const { atNs, line } of group) {
        if (!isShown(line)) continue;
        tail.add({ at: Number(atNs / 1_000_000_000n), line: cleanLine(line, log_line) });
      }
    }
  } catch (error) {
    if (!isKubeError(error, 404) && !isKubeError(error, 400)) problem = (error as Error).message;
  }
  const { entries, dropped } = tail.result();
  const note = { at: secondsOf(startedAt), line: `(${dropped} earlier lines are omitted)` };
  return { entries: dropped === 0 ? entries : [note, ...entries], ...(problem !== undefined && { problem }) };
}

const mark = Buffer.from(buildJobs.verdictMark);

/** The verdict is for builds, not for people; it is stored as the scan. */
export function isShown(line: Uint8Array): boolean {
  return Buffer.compare(line.subarray(0, mark.length), mark) !== 0;
}
