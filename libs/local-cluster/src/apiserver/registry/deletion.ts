import type { DeleteOptions, KubeObject } from "../../cluster-api.ts";
import { timeText } from "../../time.ts";
import { conflict } from "../api-status.ts";
import { stringAt } from "../json.ts";
import { isPodOver } from "../kinds/pod.ts";
import type { ResourceType } from "../resource-type.ts";

/** The effect of a delete on an object: it is removed now, it is marked, or nothing is left to do. */
export type DeletionPlan = { step: "remove" | "mark" | "wait"; object: KubeObject };

/** The finalizers by which dependents delay the removal of an owner. */
export const dependentFinalizers = { Foreground: "foregroundDeletion", Orphan: "orphan" } as const;

/** Throws 409 when the object does not match the caller's preconditions. */
export function checkPreconditions(type: ResourceType, object: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { name } = object.metadata;
  if (uid && uid !== object.metadata.uid) {
    const text = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid}`;
    throw conflict(type, name, text);
  }
  if (resourceVersion && resourceVersion !== object.metadata.resourceVersion) {
    const text = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${object.metadata.resourceVersion}`;
    throw conflict(type, name, text);
  }
}

/** Decides, without effects, what a delete does. `now` is the time of the request. */
export function planDeletion(
  type: ResourceType,
  object: KubeObject,
  request: { options: DeleteOptions; hasDependents: boolean; now: Date },
): DeletionPlan {
  const finalizers = finalizersOf(type, object, request);
  const graceSeconds = graceOf(type, object, request.options);
  const marked = mark(object, { finalizers, graceSeconds, now: request.now });
  const held = finalizers.length > 0 || graceSeconds > 0 || isLivingNamespace(type, object);
  if (!held) return { step: "remove", object: marked };
  const { metadata } = object;
  const known = finalizers.length === (metadata.finalizers ?? []).length;
  const shorter = graceSeconds < (metadata.deletionGracePeriodSeconds ?? Number.POSITIVE_INFINITY);
  if (metadata.deletionTimestamp && known && !shorter) return { step: "wait", object };
  return { step: "mark", object: type.storageKey === "/namespaces" ? terminating(marked) : marked };
}

function isLivingNamespace(type: ResourceType, object: KubeObject): boolean {
  const finalizers = object.spec?.["finalizers"];
  return type.storageKey === "/namespaces" && Array.isArray(finalizers) && finalizers.length > 0;
}

function terminating(namespace: KubeObject): KubeObject {
  return { ...namespace, status: { ...namespace.status, phase: "Terminating" } };
}

function finalizersOf(
  type: ResourceType,
  object: KubeObject,
  { options, hasDependents }: { options: DeleteOptions; hasDependents: boolean },
): string[] {
  const ends: string[] = Object.values(dependentFinalizers);
  const present = object.metadata.finalizers ?? [];
  // A delete of a Job without a policy has always orphaned its pods; the API still does so.
  const byDefault = type.storageKey === "batch/jobs" ? "Orphan" : "Background";
  const asked = options.propagationPolicy;
  if (!asked && present.some((name) => ends.includes(name))) return present;
  const policy = asked ?? byDefault;
  const others = present.filter((name) => !ends.includes(name));
  if (policy === "Background" || !hasDependents) return others;
  return [...others, dependentFinalizers[policy]];
}

function graceOf(type: ResourceType, object: KubeObject, options: DeleteOptions): number {
  if (type.storageKey !== "/pods") return 0;
  if (stringAt(object.spec, "nodeName") === "" || isPodOver(object)) return 0;
  const own = object.spec?.["terminationGracePeriodSeconds"];
  const wanted = options.gracePeriodSeconds ?? (typeof own === "number" ? own : 30);
  const current = object.metadata.deletionGracePeriodSeconds;
  return Math.max(
    0,
    object.metadata.deletionTimestamp && current !== undefined ? Math.min(wanted, current) : wanted,
  );
}

function mark(
  object: KubeObject,
  { finalizers, graceSeconds, now }: { finalizers: string[]; graceSeconds: number; now: Date },
): KubeObject {
  const { finalizers: _finalizers, ...metadata } = object.metadata;
  const first = metadata.deletionTimestamp === undefined;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(finalizers.length > 0 ? { finalizers } : {}),
      ...(first && metadata.generation ? { generation: metadata.generation + 1 } : {}),
      deletionTimestamp: timeText(now.getTime() + graceSeconds * 1000),
      deletionGracePeriodSeconds: graceSeconds,
    },
  };
}
