import { isDeepStrictEqual } from "node:util";
import type { NodeApi } from "../cluster-api.ts";
import { tolerated } from "../controllers/context.ts";
import type { Source } from "../controllers/informer.ts";
import type { Pod, PodStatus } from "../controllers/objects.ts";
import { keyOf } from "../controllers/objects.ts";
import { PODS } from "../controllers/refs.ts";

const WRITE_RETRY_MS = 500;

export type PodReporter = {
  /** Writes in this turn of the event loop; several calls make one write. */
  soon(): void;
  /** Resolves when the status is written, or could not be written. */
  now(): Promise<void>;
};

type Reported = { pod: Pod; pods: Source<Pod>; read(): PodStatus; warn(text: string): void };

/** Writes the status of one pod whenever it differs from what was written last. */
export function createReporter(api: NodeApi, { pod, pods, read, warn }: Reported): PodReporter {
  const { name, namespace = "default", uid } = pod.metadata;
  let written: PodStatus | undefined;
  let pending: NodeJS.Immediate | undefined;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    const status = read();
    if (isDeepStrictEqual(status, written)) return;
    // The name may belong to a newer pod by now.
    if (pods.get(keyOf(pod))?.metadata.uid !== uid) return;
    try {
      const cleared = { reason: null, message: null, ...status };
      await tolerated([404], () =>
        api.mergePatch(PODS, { name, namespace, subresource: "status" }, { status: cleared }),
      );
      written = status;
    } catch (error) {
      warn(`the status of pod ${namespace}/${name} could not be written: ${String(error)}`);
      setTimeout(enqueue, WRITE_RETRY_MS).unref();
    }
  };
  // One after the other, so that an older status never replaces a newer one.
  const enqueue = () => {
    pending = undefined;
    writing = writing.then(write);
    return writing;
  };
  return {
    soon: () => {
      pending ??= setImmediate(enqueue);
    },
    now: () => {
      if (pending !== undefined) clearImmediate(pending);
      return enqueue();
    },
  };
}
