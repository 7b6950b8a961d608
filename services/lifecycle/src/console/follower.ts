// Reads one server's log and publishes its lines on the mesh, the last ones first and then new ones, until the server has
// stopped, nobody watches any more or another replica has taken over. Each line is stored once.

import { setTimeout as delay } from "node:timers/promises";
import {
  cleanLine,
  createCursorTracker,
  createLineBudget,
  encodeCursor,
  isKubeError,
  type Kube,
  type LogCursor,
  type PodLogLine,
  parseCursor,
  readPodLog,
  resources,
} from "@svc/kube";
import type { LiveLogLine, LiveLogWriter, Mesh } from "@svc/mesh";
import type { Logger } from "@svc/telemetry";
import { type Server, servers as serverResource } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { logStream, noteStream } from "./log-streams.ts";
import type { ConsoleMetrics } from "./metrics.ts";
import { hasLog } from "./policy.ts";

export type FollowerDeps = {
  kube: Kube;
  mesh: Pick<Mesh, "openLiveLog" | "publishLiveLine" | "endLiveLog">;
  settings: LifecycleSettings;
  namespace: string;
  /** The server in this replica's copy, which may be slightly stale. */
  known: (name: string) => Server | undefined;
  /** Whether this replica still holds the lease on the log. */
  isMine: (name: string) => Promise<boolean>;
  metrics: ConsoleMetrics;
  log: Logger;
};

/** `stopped`: the server has stopped. `lost`: another replica follows. `left`: `stop` was called. */
type FollowEnd = "stopped" | "lost" | "left";

export type Follower = {
  /** Resolves when the last lines can be read; rejects when the log cannot be reached. */
  started: Promise<void>;
  ended: Promise<FollowEnd>;
  /** Gives up a read whose server no longer has a log; called about once a second. */
  check: () => void;
  stop: () => void;
};

const container = "minecraft";
const encoder = new TextEncoder();
/** Checks without a log before a read is given up. */
const maxMisses = 5;

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
      if (misses >= maxMisses) follow.reading?.abort();
      reportDroppedLines(deps, follow);
    },
    stop: () => leaving.abort(),
  };
}

type Follow = {
  name: string;
  /** Aborts the current read and nothing else. */
  reading: AbortController | undefined;
  budget: ReturnType<typeof createLineBudget>;
  signal: AbortSignal;
  started: PromiseWithResolvers<void>;
};

/** The stream has newer lines by somebody else. */
class WriteRefused extends Error {}

async function run(deps: FollowerDeps, follow: Follow): Promise<FollowEnd> {
  const { name, signal, started } = follow;
  while (!signal.aborted) {
    try {
      const end = await followFrom(deps, follow, await deps.mesh.openLiveLog(logStream(name)));
      if (end) return end;
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof WriteRefused) {
        if (!(await deps.isMine(name).catch(() => true))) return "lost";
        continue;
      }
      started.reject(error);
      deps.log.warn({ server: name, error: (error as Error).message }, "reading a console failed; retrying");
    }
    await delay(deps.settings.console_poll, undefined, { signal }).catch(() => {});
  }
  return "left";
}

/** Continues behind the writer's last line; undefined when it has to start over. */
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
      // The container is still waiting to start, or the pod has just gone.
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

// The copy may be stale, and a false end would disconnect every viewer.
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

/** Writes the lines since the last stored one, or the last lines when none is stored. */
async function writeBacklog(deps: FollowerDeps, follow: Follow, { writer, pod }: Source): Promise<void> {
  const { settings } = deps;
  const after = parseCursor(writer.position());
  const known = after?.pod === pod ? after : undefined;
  const most = after ? settings.console_catch_up : settings.console_tail;
  const lines = await readLast(deps, follow, { sinceNs: known?.atNs, most });
  const cursorOf = createCursorTracker(pod, after);
  const fresh = lines.flatMap((line) => {
    const cursor = cursorOf(line.atNs);
    return cursor ? [toLive(deps, line, cursor)] : [];
  });
  const isCut = lines.length >= most && (lines[0]?.atNs ?? 0n) > (known?.atNs ?? 0n);
  if (after && (isCut || fresh.length > most))
    note(deps, follow.name, "Earlier lines are omitted: too many were printed while nobody watched.");
  await write(deps, writer, fresh.slice(-most));
}

/** The last lines, at least `most` if there are so many. */
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
  // The index of a line among those of one time is only known when all of them are read.
  return read({ sinceNs: first.atNs });
}

async function collect(groups: AsyncIterable<PodLogLine[]>): Promise<PodLogLine[]> {
  const lines: PodLogLine[] = [];
  for await (const group of groups) lines.push(...group);
  return lines;
}

async function writeLive(deps: FollowerDeps, follow: Follow, { writer, pod }: Source): Promise<void> {
  const after = parseCursor(writer.position());
  const cursorOf = createCursorTracker(pod, after);
  follow.reading = new AbortController();
  const request = {
    ...requestFor(deps, follow),
    follow: true,
    signal: AbortSignal.any([follow.signal, follow.reading.signal]),
    ...(after?.pod === pod && { sinceNs: after.atNs }),
  };
  for await (const group of readPodLog(deps.kube.transport, request)) {
    if (follow.signal.aborted) return;
    const lines: LiveLogLine[] = [];
    for (const line of group) {
      const cursor = cursorOf(line.atNs);
      if (!cursor) continue;
      if (!follow.budget.take(line.line.length, performance.now())) deps.metrics.dropped();
      else lines.push(toLive(deps, line, cursor));
    }
    await write(deps, writer, lines);
    reportDroppedLines(deps, follow);
  }
}

function toLive({ settings }: FollowerDeps, { line }: PodLogLine, cursor: LogCursor): LiveLogLine {
  return {
    line: encoder.encode(cleanLine(line, settings.console_line_bytes)),
    position: encodeCursor(cursor),
  };
}

async function write(
  { metrics }: FollowerDeps,
  writer: LiveLogWriter,
  lines: readonly LiveLogLine[],
): Promise<void> {
  if (!(await writer.write(lines))) throw new WriteRefused();
  metrics.written(lines.length);
}

function reportDroppedLines(deps: FollowerDeps, { name, budget }: Follow): void {
  const count = budget.refused(performance.now());
  if (count === 0) return;
  note(deps, name, `${count} lines are omitted: the server prints faster than the console may show.`);
}

function note({ mesh, log }: FollowerDeps, name: string, text: string): void {
  mesh
    .publishLiveLine(noteStream(name), encoder.encode(text))
    .catch((error: unknown) => log.debug({ server: name, err: error }, "publishing a console note failed"));
}
