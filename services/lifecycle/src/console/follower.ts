// Reads one server's log and puts its lines on the mesh: what was printed last, then what comes, until the server has
// stopped, nobody watches any more or another replica has taken over. Each line is stored once (libs/mesh, line/write).

import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, type Kube, type PodLogLine, readPodLog, resources } from "@svc/kube";
import type { LiveLogWriter, Mesh } from "@svc/mesh";
import type { Logger } from "@svc/telemetry";
import { type Server, servers as serverResource } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { cleanLine } from "./clean-line.ts";
import { createLineBudget } from "./line-budget.ts";
import { createCursorTracker, encodeCursor, parseCursor } from "./log-cursor.ts";
import { logStream, noteStream } from "./log-streams.ts";
import type { ConsoleMetrics } from "./metrics.ts";
import { hasLog } from "./policy.ts";

export type FollowerDeps = {
  kube: Kube;
  mesh: Pick<Mesh, "openLiveLog" | "publishLiveLine" | "endLiveLog">;
  settings: LifecycleSettings;
  namespace: string;
  /** The server as this replica knows it; may be some moments old. */
  known: (name: string) => Server | undefined;
  /** Whether this replica is still the one that follows. */
  isMine: (name: string) => Promise<boolean>;
  metrics: ConsoleMetrics;
  log: Logger;
};

/** `stopped`: the server has. `lost`: another replica follows. `left`: told to stop. */
export type FollowEnd = "stopped" | "lost" | "left";

export type Follower = {
  /** What was printed last can be read; rejects when the log cannot be reached. */
  started: Promise<void>;
  ended: Promise<FollowEnd>;
  /** Looks whether what is waited for may never come; called about once a second. */
  check: () => void;
  stop: () => void;
};

const container = "minecraft";
const encoder = new TextEncoder();
/** Checks without a log of the server before a read that goes on is given up. */
const patience = 5;

export function startFollower(deps: FollowerDeps, name: string): Follower {
  const leaving = new AbortController();
  const started = Promise.withResolvers<void>();
  started.promise.catch(() => {});
  const follow: Follow = {
    name,
    reading: undefined,
    budget: createLineBudget({
      perSecond: deps.settings.console_lines_per_second,
      burst: deps.settings.console_burst,
    }),
    signal: leaving.signal,
    started,
  };
  const ended = run(deps, follow).finally(() => started.resolve());
  let misses = 0;
  return {
    started: started.promise,
    ended,
    check: () => {
      misses = hasLog(deps.known(name)) ? 0 : misses + 1;
      if (misses >= patience) follow.reading?.abort();
      reportDroppedLines(deps, follow);
    },
    stop: () => leaving.abort(),
  };
}

type Follow = {
  name: string;
  /** Ends the read that goes on, and with it nothing else. */
  reading: AbortController | undefined;
  budget: ReturnType<typeof createLineBudget>;
  signal: AbortSignal;
  started: PromiseWithResolvers<void>;
};

class Refused extends Error {}

async function run(deps: FollowerDeps, follow: Follow): Promise<FollowEnd> {
  const { name, signal, started } = follow;
  while (!signal.aborted) {
    try {
      const end = await followFrom(deps, follow, await deps.mesh.openLiveLog(logStream(name)));
      if (end) return end;
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof Refused) {
        if (!(await deps.isMine(name).catch(() => true))) return "lost";
        continue;
      }
      started.reject(error);
      deps.log.warn({ server: name, error: (error as Error).message }, "a console cannot be read; trying on");
    }
    await delay(deps.settings.console_poll, undefined, { signal }).catch(() => {});
  }
  return "left";
}

/** Reads on behind the writer's last line; undefined when it has to begin again. */
async function followFrom(
  deps: FollowerDeps,
  follow: Follow,
  writer: LiveLogWriter,
): Promise<FollowEnd | undefined> {
  const { name, signal, started } = follow;
  let isBegun = false;
  while (!signal.aborted) {
    const pod = await findPod(deps, name);
    try {
      if (pod) {
        if (!isBegun) await writeBacklog(deps, follow, { writer, pod });
        isBegun = true;
        started.resolve();
        await writeLive(deps, follow, { writer, pod });
      }
    } catch (error) {
      // The container waits to be started, or the pod has just gone.
      if (!isKubeError(error, 400) && !isKubeError(error, 404)) throw error;
    }
    if (signal.aborted) break;
    if (await hasStopped(deps, name)) {
      await deps.mesh.endLiveLog(noteStream(name), encoder.encode("The server has stopped."));
      return "stopped";
    }
    started.resolve();
    await delay(deps.settings.console_poll, undefined, { signal }).catch(() => {});
  }
  return "left";
}

async function findPod({ kube, namespace }: FollowerDeps, name: string): Promise<string | undefined> {
  const pod = await kube.find(resources.pods, { name: `${name}-0`, namespace });
  return pod?.metadata.uid;
}

// What this replica knows may be old, and an end that is none would send everybody away.
async function hasStopped({ kube, namespace, known }: FollowerDeps, name: string): Promise<boolean> {
  if (hasLog(known(name))) return false;
  return !hasLog(await kube.find(serverResource, { name, namespace }));
}

type Source = { writer: LiveLogWriter; pod: string };

function requestFor(deps: FollowerDeps, follow: Follow) {
  const { settings, namespace } = deps;
  const name = `${follow.name}-0`;
  return { namespace, name, container, lineBytes: settings.console_line_bytes, signal: follow.signal };
}

/** What came since the last line that is kept, or the last lines when none is. */
async function writeBacklog(deps: FollowerDeps, follow: Follow, { writer, pod }: Source): Promise<void> {
  const { settings } = deps;
  const after = parseCursor(writer.position());
  const known = after?.pod === pod ? after : undefined;
  const most = after ? settings.console_catch_up : settings.console_tail;
  const lines = await readLast(deps, follow, { sinceNs: known?.atNs, most });
  const place = createCursorTracker(pod, after);
  const fresh = lines.flatMap((line) => {
    const position = place(line.atNs);
    return position ? [{ line, at: encodeCursor(position) }] : [];
  });
  const isCut = lines.length >= most && (lines[0]?.atNs ?? 0n) > (known?.atNs ?? 0n);
  if (after && (isCut || fresh.length > most))
    note(deps, follow.name, "Earlier lines were left out: there are too many since somebody watched.");
  for (const one of fresh.slice(-most)) await write(deps, writer, one);
}

/** The last lines, at least `most` when there are so many; those of the last moment from the first of them on. */
async function readLast(
  deps: FollowerDeps,
  follow: Follow,
  { sinceNs, most }: { sinceNs: bigint | undefined; most: number },
): Promise<PodLogLine[]> {
  const read = (more: { sinceNs?: bigint; tailLines?: number }) =>
    collect(readPodLog(deps.kube.transport, { ...requestFor(deps, follow), ...more }));
  const lines = await read({ tailLines: most, ...(sinceNs !== undefined && { sinceNs }) });
  const [first] = lines;
  if (!first || lines.length < most || first.atNs !== lines.at(-1)?.atNs) return lines;
  // Which of the lines of one moment a line is can only be told from the first of them on.
  return read({ sinceNs: first.atNs });
}

async function collect(groups: AsyncIterable<PodLogLine[]>): Promise<PodLogLine[]> {
  const lines: PodLogLine[] = [];
  for await (const group of groups) lines.push(...group);
  return lines;
}

async function writeLive(deps: FollowerDeps, follow: Follow, { writer, pod }: Source): Promise<void> {
  const after = parseCursor(writer.position());
  const place = createCursorTracker(pod, after);
  follow.reading = new AbortController();
  const request = {
    ...requestFor(deps, follow),
    follow: true,
    signal: AbortSignal.any([follow.signal, follow.reading.signal]),
    ...(after?.pod === pod && { sinceNs: after.atNs }),
  };
  for await (const group of readPodLog(deps.kube.transport, request)) {
    for (const line of group) {
      if (follow.signal.aborted) return;
      const position = place(line.atNs);
      if (!position) continue;
      if (!follow.budget.take(line.line.length, performance.now())) deps.metrics.dropped();
      else await write(deps, writer, { line, at: encodeCursor(position) });
    }
    reportDroppedLines(deps, follow);
  }
}

async function write(
  { settings, metrics }: FollowerDeps,
  writer: LiveLogWriter,
  { line, at }: { line: PodLogLine; at: string },
): Promise<void> {
  const text = cleanLine(line.line, settings.console_line_bytes);
  if (!(await writer.write(encoder.encode(text), at))) throw new Refused();
  metrics.written();
}

function reportDroppedLines(deps: FollowerDeps, { name, budget }: Follow): void {
  const count = budget.refused(performance.now());
  if (count === 0) return;
  note(deps, name, `${count} lines were left out: the server prints faster than the console may show.`);
}

function note({ mesh, log }: FollowerDeps, name: string, text: string): void {
  const { owner, noun, key } = noteStream(name);
  mesh
    .publishLiveLine(owner, noun, key, encoder.encode(text))
    .catch((error: unknown) => log.debug({ server: name, err: error }, "a note could not be published"));
}
