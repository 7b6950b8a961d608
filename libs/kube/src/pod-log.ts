// Reads the log of a container line by line, with the timestamps of the node.

import { isFault } from "@svc/proto";
import type { Transport } from "./transport.ts";

export type PodLogRequest = {
  namespace: string;
  name: string;
  container: string;
  /** Start time in nanoseconds since 1970; servers may round it down to the second. */
  sinceNs?: bigint;
  /** The log of the run before the container was restarted. */
  previous?: boolean;
  /** Only this many last lines. */
  tailLines?: number;
  /** Follows the log until the container ends, the connection breaks or an hour has passed. */
  follow?: boolean;
  /** Longer lines are truncated. */
  lineBytes: number;
  signal?: AbortSignal;
};

/** One line without its end. Several lines may share a time. */
export type PodLogLine = { atNs: bigint; line: Buffer };

const followMs = 3_600_000;
const readMs = 30_000;
const newline = 0x0a;
const space = 0x20;

/**
 * Reads a container's log in groups of lines, as they arrive. Ends when the log does; a connection that breaks while
 * following is the same. Throws `KubeError` 404 without the pod, 400 before the container has started, and the fault
 * `unavailable` when the cluster cannot be reached.
 */
export async function* readPodLog(
  transport: Transport,
  request: PodLogRequest,
): AsyncGenerator<PodLogLine[], void, undefined> {
  const { namespace, name, container, sinceNs, tailLines, follow = false, lineBytes, signal } = request;
  const { previous = false } = request;
  const response = await transport.open({
    method: "GET",
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log`,
    query: {
      container,
      timestamps: true,
      ...(follow && { follow }),
      ...(previous && { previous }),
      ...(tailLines !== undefined && { tailLines }),
      ...(sinceNs !== undefined && { sinceTime: timeOf(sinceNs) }),
    },
    signal,
    timeoutMs: follow ? followMs : readMs,
    isLong: true,
  });
  response.socket.setKeepAlive(true, 15_000);
  const cut = lineCutter(lineBytes);
  try {
    for await (const chunk of response) {
      const lines = cut(chunk as Buffer);
      if (lines.length > 0) yield lines;
    }
    // A last line without a line end counts once the container has ended; before, it may be incomplete.
    const last = follow ? cut(Buffer.from("\n")) : [];
    if (last.length > 0) yield last;
  } catch (error) {
    if (isFault(error)) throw error;
    // A broken finite read must not look complete; a follower reconnects.
    if (!follow && !signal?.aborted) throw error;
  } finally {
    response.destroy();
  }
}

/** Splits chunks into lines and truncates long ones. */
function lineCutter(lineBytes: number): (chunk: Buffer) => PodLogLine[] {
  // The timestamp before the line does not count.
  const most = lineBytes + 40;
  let held: Buffer[] = [];
  let heldBytes = 0;
  const hold = (part: Buffer) => {
    const room = most - heldBytes;
    if (room > 0) held.push(Buffer.from(part.subarray(0, room)));
    heldBytes += Math.min(part.length, Math.max(0, room));
  };
  return (chunk) => {
    const lines: PodLogLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      hold(chunk.subarray(from, at));
      const line = parse(held.length === 1 && held[0] ? held[0] : Buffer.concat(held), lineBytes);
      if (line) lines.push(line);
      held = [];
      heldBytes = 0;
      from = at + 1;
    }
    if (from < chunk.length) hold(chunk.subarray(from));
    return lines;
  };
}

function parse(raw: Buffer, lineBytes: number): PodLogLine | undefined {
  const end = raw.indexOf(space);
  const atNs = nanosOf(raw.toString("latin1", 0, end < 0 ? raw.length : end));
  if (atNs === undefined) return undefined;
  return { atNs, line: end < 0 ? Buffer.alloc(0) : raw.subarray(end + 1, end + 1 + lineBytes) };
}

const timePattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

function nanosOf(text: string): bigint | undefined {
  const [, whole, fraction = "", zone] = timePattern.exec(text) ?? [];
  const ms = Date.parse(`${whole}${zone}`);
  if (Number.isNaN(ms)) return undefined;
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

function timeOf(ns: bigint): string {
  const whole = new Date(Number(ns / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${whole}.${String(ns % 1_000_000_000n).padStart(9, "0")}Z`;
}
