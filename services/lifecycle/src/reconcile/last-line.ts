import { cleanLine, type Kube, readPodLog } from "@svc/kube";
import { isOfWatchdog } from "../crash/ticks.ts";

/** More than a watchdog prints of all threads at once. */
const readLines = 2_000;
/** Enough to know a line of a watchdog. */
const lineBytes = 512;

/**
 * When a server printed its last line that is a sign of life (docs/reference/crashes.md#hang), Unix milliseconds; undefined when it
 * cannot be read. Where a watchdog has printed all that is read, it is when that began.
 */
export async function readLastLineAt(
  { kube, namespace }: { kube: Pick<Kube, "transport">; namespace: string },
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const container = { namespace, name: `${name}-0`, container: "minecraft" };
  let [first, last]: (number | undefined)[] = [];
  try {
    for await (const lines of readPodLog(kube.transport, {
      ...container,
      tailLines: readLines,
      lineBytes,
      signal,
    }))
      for (const { atNs, line } of lines) {
        const at = Number(atNs / 1_000_000n);
        first ??= at;
        if (!isOfWatchdog(cleanLine(line, lineBytes))) last = at;
      }
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
  return last ?? first;
}
