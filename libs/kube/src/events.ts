import { createHash } from "node:crypto";
import type { Logger } from "@svc/telemetry";
import type { Kube } from "./client.ts";
import { isKubeError } from "./error.ts";
import { type KubeObject, resources } from "./resource.ts";

type EventInput = {
  /** The object that the event is about; needs namespace and uid. */
  about: KubeObject;
  type: "Normal" | "Warning";
  /** CamelCase, for programs. */
  reason: string;
  /** One sentence, for people. */
  message: string;
};

export type EventRecorder = {
  /** Best effort, does not wait: a failure is only logged at debug. */
  record: (event: EventInput) => void;
  /** Waits for writes in flight. */
  idle: () => Promise<void>;
};

type Known = { name: string; count: number; at: number };

const aggregateMs = 600_000;
const knownLimit = 4_096;
const waitingLimit = 512;

/** Writes core/v1 Events; the same message about the same object within ten minutes only raises a count. */
export function createEventRecorder(options: { kube: Kube; component: string; log: Logger }): EventRecorder {
  const known = new Map<string, Known>();
  const waiting = new Set<Promise<void>>();
  const record = (event: EventInput) => {
    if (waiting.size >= waitingLimit) return;
    const work = write(options, known, event)
      .catch((error: Error) =>
        options.log.debug({ error: error.message }, "recording a Kubernetes event failed"),
      )
      .finally(() => waiting.delete(work));
    waiting.add(work);
  };
  return {
    record,
    idle: async () => {
      while (waiting.size > 0) await Promise.all(waiting);
    },
  };
}

async function write(
  options: { kube: Kube; component: string },
  known: Map<string, Known>,
  event: EventInput,
): Promise<void> {
  const { metadata } = event.about;
  const key = createHash("sha1")
    .update(JSON.stringify([metadata.uid, event.type, event.reason, event.message]))
    .digest("hex");
  const now = Date.now();
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const before = known.get(key);
  const namespace = metadata.namespace ?? "default";
  if (before && now - before.at < aggregateMs) {
    before.count += 1;
    const merge = { count: before.count, lastTimestamp: at };
    const isThere = await options.kube
      .patch(resources.events, { name: before.name, namespace }, { merge })
      .then(
        () => true,
        (error: unknown) => {
          if (isKubeError(error, 404)) return false;
          throw error;
        },
      );
    if (isThere) return;
  }
  const name = `${metadata.name}.${key.slice(0, 10)}${now.toString(36)}`;
  known.set(key, { name, count: 1, at: now });
  if (known.size > knownLimit) known.delete(known.keys().next().value ?? "");
  await options.kube.create(resources.events, {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace },
    type: event.type,
    reason: event.reason,
    message: event.message.slice(0, 1024),
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
    source: { component: options.component },
    involvedObject: involved(event.about),
  });
}

function involved({ apiVersion, kind, metadata }: KubeObject): Record<string, string> {
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion,
    kind,
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}
