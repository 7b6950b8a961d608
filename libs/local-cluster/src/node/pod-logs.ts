import { join } from "node:path";
import type { KubeObject, PodLogOptions, PodLogs } from "../cluster-api.ts";
import type { Pod } from "../controllers/objects.ts";
import type { LogClock } from "./log-clock.ts";
import type { LogExtent } from "./log-file.ts";
import { formatTime, openTimes, readBase, readLog, sizeOf, timeOf } from "./log-file.ts";
import { podPaths } from "./paths.ts";
import { attemptsIn } from "./processes.ts";

const CHUNK_BYTES = 65_536;
const NEWLINE = 0x0a;

/** The clocks of the active runs, by run directory. */
export type LogClocks = Map<string, LogClock>;

/** The request is rejected; `code` is its HTTP status. */
class PodLogError extends Error {
  override name = "PodLogError";
  readonly code = 400;
}

type Line = { start: number; bytes: Buffer };
type Source = { dir: string; clock: LogClock | undefined };

function chooseContainer(pod: Pod, wanted: string | undefined): string {
  const names = [...(pod.spec.initContainers ?? []), ...pod.spec.containers].map(({ name }) => name);
  const [only] = pod.spec.containers;
  if (wanted === undefined && pod.spec.containers.length === 1 && only !== undefined) return only.name;
  if (wanted !== undefined && names.includes(wanted)) return wanted;
  throw new PodLogError(
    wanted === undefined
      ? `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(" ")}]`
      : `container ${wanted} is not valid for pod ${pod.metadata.name}`,
  );
}

async function extentOf({ dir, clock }: Source): Promise<LogExtent> {
  if (clock !== undefined) return clock.extent();
  return { end: readBase(dir).base + (await sizeOf(join(dir, "log"))), open: false };
}

/** Complete lines from `position` on; a rest without a newline comes last, once the log is closed. */
async function* linesFrom(source: Source, follow: boolean, signal: AbortSignal): AsyncGenerator<Line> {
  const { oldBase } = readBase(source.dir);
  let position = oldBase;
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    const extent = await extentOf(source);
    while (position < extent.end && !signal.aborted) {
      const bytes = await readLog(source.dir, position, Math.min(CHUNK_BYTES, extent.end - position));
      if (bytes.length === 0) {
        // Rotated away before it was read.
        position = Math.max(position + 1, readBase(source.dir).oldBase);
        rest = Buffer.alloc(0);
        continue;
      }
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      let start = position - rest.length;
      position += bytes.length;
      let from = 0;
      for (let at = all.indexOf(NEWLINE); at >= 0; at = all.indexOf(NEWLINE, from)) {
        yield { start, bytes: all.subarray(from, at + 1) };
        start += at + 1 - from;
        from = at + 1;
      }
      rest = all.subarray(from);
    }
    if (signal.aborted) return;
    if (!follow || !extent.open || source.clock === undefined) break;
    await source.clock.changed(extent, signal);
  }
  if (rest.length > 0) yield { start: position - rest.length, bytes: rest };
}

/** The position of the last `count` lines. */
async function tailStart(source: Source, count: number, signal: AbortSignal): Promise<number> {
  if (count === 0) return Number.POSITIVE_INFINITY;
  const starts: number[] = [];
  for await (const { start } of linesFrom(source, false, signal)) {
    starts.push(start);
    if (starts.length > count) starts.shift();
  }
  return starts[0] ?? 0;
}

function sinceNanoseconds({ sinceTime, sinceSeconds }: PodLogOptions): bigint {
  if (sinceSeconds !== undefined) return BigInt(Math.floor(Date.now() - sinceSeconds * 1000)) * 1_000_000n;
  if (sinceTime === undefined) return 0n;
  const ms = Date.parse(sinceTime);
  if (Number.isNaN(ms)) throw new PodLogError(`sinceTime "${sinceTime}" is not an RFC 3339 time`);
  const digits = /\.(\d+)/.exec(sinceTime)?.[1] ?? "";
  return BigInt(Math.floor(ms / 1000)) * 1_000_000_000n + BigInt(digits.slice(0, 9).padEnd(9, "0"));
}

/** The times of lines; reads new entries only for a line newer than the known ones. */
function timetable(dir: string): (start: number) => bigint {
  const index = openTimes(dir);
  let times = index.read();
  return (start) => {
    if ((times.at(-1)?.end ?? 0) <= start) times = index.read();
    return timeOf(times, start);
  };
}

async function* select(source: Source, options: PodLogOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
  const since = sinceNanoseconds(options);
  const timed = since > 0n || options.timestamps === true;
  const timeAt = timetable(source.dir);
  const skipTo = options.tailLines === undefined ? 0 : await tailStart(source, options.tailLines, signal);
  // With tailLines 0 and follow only new lines are sent.
  const first = Number.isFinite(skipTo) ? skipTo : (await extentOf(source)).end;
  for await (const { start, bytes } of linesFrom(source, options.follow === true, signal)) {
    if (start < first) continue;
    const at = timed ? timeAt(start) : 0n;
    if (at < since) continue;
    yield options.timestamps === true ? Buffer.concat([Buffer.from(`${formatTime(at)} `), bytes]) : bytes;
  }
}

async function* limited(
  parts: AsyncGenerator<Buffer>,
  limitBytes: number | undefined,
): AsyncGenerator<Buffer> {
  let left = limitBytes ?? Number.POSITIVE_INFINITY;
  for await (const part of parts) {
    if (left <= 0) return;
    yield part.length <= left ? part : part.subarray(0, left);
    left -= part.length;
  }
}

/** Serves the logs of pods from the files of their runs; it needs no node agent for pods that have ended. */
export function createPodLogs(podsDir: string, clocks: LogClocks): PodLogs {
  return {
    read: async function* (object: KubeObject, options, signal) {
      const pod = object as Pod;
      const container = chooseContainer(pod, options.container);
      const paths = podPaths(podsDir, pod.metadata.uid ?? "");
      const attempts = attemptsIn(paths.runs(container));
      const attempt = attempts.at(options.previous === true ? -2 : -1);
      if (attempt === undefined) {
        throw new PodLogError(
          options.previous === true
            ? `previous terminated container "${container}" in pod "${pod.metadata.name}" not found`
            : `container "${container}" in pod "${pod.metadata.name}" is waiting to start`,
        );
      }
      const dir = paths.run(container, attempt);
      yield* limited(select({ dir, clock: clocks.get(dir) }, options, signal), options.limitBytes);
    },
  };
}
