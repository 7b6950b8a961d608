// The last lines of a run that has ended (docs/reference/crashes.md#lines).

import { setTimeout as delay } from "node:timers/promises";
import { cleanLine, isKubeError, type Kube, readPodLog, resources } from "@svc/kube";
import { crashes } from "@svc/proto";
import { type EndedRun, logOf } from "./ended-run.ts";

type LinesDeps = { kube: Pick<Kube, "transport" | "find">; namespace: string; lineBytes: number };

/** Enough for the cause of a start that ends in a long stack trace. */
const readLines = 1_000;
/**
 * Waits before each look, milliseconds. The container may be restarted while its log is read, and a node gives out the log
 * of the next run before the cluster says that it has begun.
 */
const waitsMs = [0, 100, 400, 1_600] as const;
/** Ends of containers are whole seconds, rounded down. */
const endSlackNs = 1_000_000_000n;

type Line = { atNs: bigint; line: string };

/** The end of the log of one run, the oldest line first; empty when the log is gone. */
export async function readLastLines(
  deps: LinesDeps,
  about: { name: string; run: EndedRun; signal: AbortSignal },
): Promise<string[]> {
  const { name, run, signal } = about;
  const findLog = async () => {
    const pod = await deps.kube.find(resources.pods, { name: `${name}-0`, namespace: deps.namespace });
    return pod && logOf(pod, run);
  };
  for (const waitMs of waitsMs) {
    await delay(waitMs, undefined, { signal });
    const log = await findLog();
    if (log === undefined) return [];
    const lines = await readLog(deps, about, log === "previous");
    if (isOf(run, lines) && (await findLog()) === log) return lines.map(({ line }) => line);
  }
  return [];
}

/** Whether lines were printed by a run rather than by the one after it, which has printed nothing yet or only later. */
function isOf({ endedAt, hangs }: EndedRun, [first]: readonly Line[]): boolean {
  if (hangs) return true;
  return first !== undefined && first.atNs < BigInt(endedAt.getTime()) * 1_000_000n + endSlackNs;
}

async function readLog(
  { kube, namespace, lineBytes }: LinesDeps,
  { name, signal }: { name: string; signal: AbortSignal },
  previous: boolean,
): Promise<Line[]> {
  const container = { namespace, name: `${name}-0`, container: "minecraft", tailLines: readLines };
  const lines: Line[] = [];
  try {
    for await (const group of readPodLog(kube.transport, { ...container, previous, lineBytes, signal }))
      lines.push(...group.map(({ atNs, line }) => ({ atNs, line: cleanLine(line, lineBytes) })));
  } catch (error) {
    // The pod has gone, or its container was restarted just now.
    if (!isKubeError(error, 400) && !isKubeError(error, 404)) throw error;
  }
  return lines;
}

/** What a report keeps of them: the last ones, within its limits. */
export function keptLines(lines: readonly string[]): string[] {
  const kept: string[] = [];
  let left = crashes.maxCrashBytes;
  for (const line of lines.slice(-crashes.maxCrashLines).toReversed()) {
    left -= Buffer.byteLength(line);
    if (left < 0) break;
    kept.push(line);
  }
  return kept.reverse();
}
