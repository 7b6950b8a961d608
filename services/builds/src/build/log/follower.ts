// Follows the steps of one build in order and stores their lines as a live log, each once: whoever takes over goes on
// behind the last stored line.

import { setTimeout as delay } from "node:timers/promises";
import {
  cleanLine,
  createCursorTracker,
  createLineBudget,
  encodeCursor,
  isKubeError,
  type LogCursor,
  type PodLogLine,
  parseCursor,
  readPodLog,
  resources,
} from "@svc/kube";
import type { LiveLogLine, LiveLogWriter } from "@svc/mesh";
import type { builds } from "@svc/proto";
import { createWake } from "@svc/store/wake";
import { type ClusterDeps, inNamespace } from "../deps.ts";
import { label, selector } from "../job.ts";
import type { BuildRow } from "../row.ts";
import { isShown } from "./collect.ts";
import { endOf, logSource } from "./streams.ts";

export type LogFollower = {
  /** What the reconcile found last. */
  update: (row: BuildRow) => void;
  stop: () => void;
  ended: Promise<void>;
};

type Known = Pick<BuildRow, "status" | "steps">;
type Follow = {
  id: string;
  known: () => Known;
  /** Resolves after a change, and after a while. */
  changed: () => Promise<void>;
  budget: ReturnType<typeof createLineBudget>;
  signal: AbortSignal;
};

const encoder = new TextEncoder();
const retryMs = 1_000;
const recheckMs = 500;

export function startLogFollower(deps: ClusterDeps, row: BuildRow): LogFollower {
  const { log_lines_per_second: perSecond, log_burst: burst } = deps.settings.builds;
  const leaving = new AbortController();
  const wake = createWake();
  let known: Known = row;
  const follow: Follow = {
    id: row.id,
    known: () => known,
    changed: () => wake.next(recheckMs),
    budget: createLineBudget({ perSecond, burst }),
    signal: leaving.signal,
  };
  return {
    update: (after) => {
      known = after;
      wake.ring();
    },
    stop: () => {
      leaving.abort();
      wake.ring();
    },
    ended: run(deps, follow),
  };
}

/** The log has newer lines by another replica. */
class WriteRefused extends Error {}

async function run(deps: ClusterDeps, follow: Follow): Promise<void> {
  const { id, signal } = follow;
  while (!signal.aborted) {
    try {
      await writeSteps(deps, follow, await deps.mesh.openLiveLog(logSource(id)));
      return;
    } catch (error) {
      if (signal.aborted || error instanceof WriteRefused) return;
      deps.log.warn(
        { build: id, error: (error as Error).message },
        "following a build's log failed; retrying",
      );
      await delay(retryMs, undefined, { signal }).catch(() => {});
    }
  }
}

const hasEnded = ({ status }: Known) => status !== "building" && status !== "pending";

async function writeSteps(deps: ClusterDeps, follow: Follow, writer: LiveLogWriter): Promise<void> {
  const { known, signal } = follow;
  const at = parsePosition(writer.position());
  for (let index = at?.index ?? 0; index < known().steps.length; index++) {
    const isSame = index === at?.index;
    if (isSame && at.isOver) continue;
    const stateOf = () => known().steps[index]?.state ?? "pending";
    while (stateOf() === "pending" && !hasEnded(known()) && !signal.aborted) await follow.changed();
    if (signal.aborted) return;
    const step = known().steps[index];
    if (!step?.startedAt) continue;
    if (!isSame) await writeEvent(writer, { index, what: "begin" }, { ...step, state: "running" });
    await writeLines(deps, follow, { writer, index, after: isSame ? at.cursor : undefined });
    if (signal.aborted) return;
    await writeEvent(writer, { index, what: "end" }, known().steps[index] ?? step);
  }
  while (!hasEnded(known()) && !signal.aborted) await follow.changed();
  if (signal.aborted) return;
  await deps.mesh.endLiveLog(logSource(follow.id), encoder.encode(endOf(known().status)), "end");
}

type Position = { index: number; isOver: boolean; cursor: LogCursor | undefined };

function parsePosition(text: string | undefined): Position | undefined {
  const [, index, what] = /^(\d+) (begin|end)$/.exec(text ?? "") ?? [];
  if (index !== undefined) return { index: Number(index), isOver: what === "end", cursor: undefined };
  const cursor = parseCursor(text?.replace(/ note$/, ""));
  return cursor && { index: Number(cursor.pod), isOver: false, cursor };
}

async function writeEvent(
  writer: LiveLogWriter,
  { index, what }: { index: number; what: "begin" | "end" },
  step: builds.StepProgress,
): Promise<void> {
  const { name, state, startedAt, finishedAt } = step;
  const about = { name, state, startedAt, ...(what === "end" && finishedAt && { finishedAt }) };
  const line = { line: encoder.encode(JSON.stringify(about)), position: `${index} ${what}`, event: "step" };
  await write(writer, [line]);
}

async function write(writer: LiveLogWriter, lines: readonly LiveLogLine[]): Promise<void> {
  if (!(await writer.write(lines))) throw new WriteRefused();
}

type Source = { writer: LiveLogWriter; index: number; after: LogCursor | undefined };

/** Reads until the container has ended and its log was read to the end. */
async function writeLines(deps: ClusterDeps, follow: Follow, source: Source): Promise<void> {
  const { known, signal } = follow;
  let after = source.after;
  for (;;) {
    const isOver = known().steps[source.index]?.state !== "running" || hasEnded(known());
    try {
      after = await readOnce(deps, follow, { ...source, after });
    } catch (error) {
      // The container has not started yet, or its pod is gone.
      if (!isKubeError(error, 400) && !isKubeError(error, 404)) throw error;
    }
    if (isOver || signal.aborted) return;
    await follow.changed();
  }
}

async function readOnce(deps: ClusterDeps, follow: Follow, source: Source): Promise<LogCursor | undefined> {
  const { writer, index } = source;
  let { after } = source;
  const pod = await findPod(deps, follow.id);
  if (pod === undefined) return after;
  const cursorOf = createCursorTracker(String(index), after);
  const request = {
    ...inNamespace(deps),
    name: pod,
    container: follow.known().steps[index]?.name ?? "",
    lineBytes: deps.settings.builds.log_line,
    follow: true,
    signal: follow.signal,
    ...(after && { sinceNs: after.atNs }),
  };
  for await (const group of readPodLog(deps.kube.transport, request)) {
    if (follow.signal.aborted) return after;
    const lines = linesOf(deps, follow, { group, cursorOf });
    after = lines.last ?? after;
    await write(writer, withNote(follow, lines.shown, after));
  }
  return after;
}

async function findPod({ kube, settings }: ClusterDeps, id: string): Promise<string | undefined> {
  const labelSelector = `${selector},${label.build}=${id}`;
  const { items } = await kube.list(resources.pods, { ...inNamespace({ settings }), labelSelector });
  return items[0]?.metadata.name;
}

type Group = { group: readonly PodLogLine[]; cursorOf: ReturnType<typeof createCursorTracker> };

function linesOf(deps: ClusterDeps, { budget }: Follow, { group, cursorOf }: Group) {
  const { log_line } = deps.settings.builds;
  const shown: LiveLogLine[] = [];
  let last: LogCursor | undefined;
  let dropped = 0;
  for (const { atNs, line } of group) {
    const cursor = cursorOf(atNs);
    if (!cursor) continue;
    last = cursor;
    if (!isShown(line)) continue;
    if (!budget.take(line.length, performance.now())) dropped += 1;
    else shown.push({ line: encoder.encode(cleanLine(line, log_line)), position: encodeCursor(cursor) });
  }
  if (dropped > 0) deps.metrics.droppedLines(dropped);
  return { shown, last };
}

/** Says how many lines a viewer misses, once there is room again. */
function withNote({ budget }: Follow, lines: LiveLogLine[], at: LogCursor | undefined): LiveLogLine[] {
  const count = budget.refused(performance.now());
  if (count === 0 || !at) return lines;
  const text = `(${count} lines are omitted: the build prints faster than the live log may show)`;
  return [...lines, { line: encoder.encode(text), position: `${encodeCursor(at)} note` }];
}
