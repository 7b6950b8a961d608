import { isDeepStrictEqual } from "node:util";
import type { ClusterApi } from "../cluster-api.ts";
import { tolerate } from "../controllers/context.ts";
import type { Pod, PodStatus } from "../controllers/objects.ts";
import { PODS } from "../controllers/refs.ts";

const WRITE_RETRY_MS = 500;

export type PodReporter = {
  /** Writes in this turn of the event loop; several calls make one write. */
  soon(): void;
  now(): void;
};

/** Writes the status of one pod whenever it differs from what was written last. */
export function createReporter(
  api: ClusterApi,
  { pod, read, warn }: { pod: Pod; read(): PodStatus; warn(text: string): void },
) {
  const { name, namespace = "default", uid } = pod.metadata;
  let written: PodStatus | undefined;
  let pending: NodeJS.Immediate | undefined;
  const write = () => {
    pending = undefined;
    const status = read();
    if (isDeepStrictEqual(status, written)) return;
    // The name may belong to a newer pod by now.
    if (api.find(PODS, name, namespace)?.metadata.uid !== uid) return;
    try {
      const cleared = { reason: null, message: null, ...status };
      tolerate([404], () =>
        api.mergePatch(PODS, { name, namespace, subresource: "status" }, { status: cleared }),
      );
      written = status;
    } catch (error) {
      warn(`the status of pod ${namespace}/${name} could not be written: ${String(error)}`);
      setTimeout(write, WRITE_RETRY_MS).unref();
    }
  };
  return {
    soon: () => {
      pending ??= setImmediate(write);
    },
    now: () => {
      if (pending !== undefined) clearImmediate(pending);
      write();
    },
  };
}
