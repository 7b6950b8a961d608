// The last lines of a run that has ended (docs/reference/crashes.md#lines).

import { cleanLine, isKubeError, type Kube, readPodLog, resources } from "@svc/kube";
import { crashes } from "@svc/proto";
import { type EndedRun, logOf } from "./ended-run.ts";

type LinesDeps = { kube: Pick<Kube, "transport" | "find">; namespace: string; lineBytes: number };

/** Enough for the cause of a start that ends in a long stack trace. */
const readLines = 1_000;
/** A container that is restarted while its log is read is read again, so often. */
const maxReads = 3;

/** The end of the log of one run, the oldest line first; empty when the log is gone. */
export async function readLastLines(
  deps: LinesDeps,
  about: { name: string; run: EndedRun; signal: AbortSignal },
): Promise<string[]> {
  const { name, run } = about;
  const findLog = async () => {
    const pod = await deps.kube.find(resources.pods, { name: `${name}-0`, namespace: deps.namespace });
    return pod && logOf(pod, run);
  };
  let log = await findLog();
  for (let reads = 0; log !== undefined && reads < maxReads; reads += 1) {
    const lines = await readLog(deps, about, log === "previous");
    const now = await findLog();
    if (now === log) return lines;
    log = now;
  }
  return [];
}

async function readLog(
  { kube, namespace, lineBytes }: LinesDeps,
  { name, signal }: { name: string; signal: AbortSignal },
  previous: boolean,
): Promise<string[]> {
  const container = { namespace, name: `${name}-0`, container: "minecraft", tailLines: readLines };
  const lines: string[] = [];
  try {
    for await (const group of readPodLog(kube.transport, { ...container, previous, lineBytes, signal }))
      lines.push(...group.map(({ line }) => cleanLine(line, lineBytes)));
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
