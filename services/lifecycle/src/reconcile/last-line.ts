import { type Kube, readPodLog } from "@svc/kube";

/** When a server printed its last line, Unix milliseconds; undefined when it cannot be read. */
export async function readLastLineAt(
  { kube, namespace }: { kube: Pick<Kube, "transport">; namespace: string },
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const request = {
    namespace,
    name: `${name}-0`,
    container: "minecraft",
    tailLines: 1,
    lineBytes: 1,
    signal,
  };
  let last: number | undefined;
  try {
    for await (const lines of readPodLog(kube.transport, request))
      for (const { atNs } of lines) last = Number(atNs / 1_000_000n);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
  return last;
}
