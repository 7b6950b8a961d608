import type { KubeObject, OwnerReference } from "../cluster-api.ts";
import { ApiStatus } from "./api-status.ts";
import { dependentFinalizers } from "./registry/deletion.ts";
import type { Registry, Target } from "./registry/registry.ts";
import type { Place } from "./store/owner-index.ts";
import type { Change } from "./store/stored.ts";

/** The garbage collector; `settled` resolves once its queue is empty. */
type GarbageCollector = { settled(): Promise<void>; close(): void };

const batchSize = 64;

/**
 * Deletes objects without owners. Checks the dependents of each object that is removed or marked, and each new
 * object whose owner is already gone; works in small batches between other requests. Once at the start it checks
 * every object, to finish what a kill interrupted.
 */
export function startGarbageCollector(registry: Registry): GarbageCollector {
  const { store } = registry;
  const queue = new Map<string, Place>();
  const waiters: (() => void)[] = [];
  let scheduled: NodeJS.Immediate | undefined;

  const look = (place: Place) => {
    queue.set(`${place.resource} ${place.key}`, place);
    scheduled ??= setImmediate(work);
  };
  const work = () => {
    scheduled = undefined;
    for (const [id, place] of [...queue].slice(0, batchSize)) {
      queue.delete(id);
      examine(registry, place);
    }
    if (queue.size > 0) scheduled ??= setImmediate(work);
    else for (const done of waiters.splice(0)) done();
  };
  const onChange = (change: Change, resource: string) => {
    const { metadata } = change.current.object;
    const place = { resource, key: change.key };
    if (change.type === "DELETED") {
      for (const dependent of store.dependents(metadata.uid ?? "")) look(dependent);
      lookAtOwners(registry, change.current.object, look);
    } else if (metadata.deletionTimestamp || metadata.ownerReferences) {
      if (metadata.deletionTimestamp) lookAtOwners(registry, change.current.object, look);
      look(place);
    }
  };

  for (const resource of store.resources()) {
    for (const { key, object } of store.collection(resource).range({})) {
      if (object.metadata.ownerReferences || object.metadata.deletionTimestamp) look({ resource, key });
    }
  }
  const unsubscribe = store.subscribe(undefined, onChange);
  return {
    settled: () => (queue.size === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
    close: () => {
      unsubscribe();
      clearImmediate(scheduled);
      for (const done of waiters.splice(0)) done();
    },
  };
}

// An owner in foreground deletion may be removable once one of its dependents is gone.
function lookAtOwners({ store }: Registry, object: KubeObject, look: (place: Place) => void): void {
  for (const { uid } of object.metadata.ownerReferences ?? []) {
    const owner = store.locate(uid);
    if (owner) look(owner);
  }
}

function examine(registry: Registry, place: Place): void {
  const type = registry.types.ofStorage(place.resource);
  const stored = registry.store.get(place.resource, place.key);
  if (!type || !stored) return;
  const { metadata } = stored.object;
  const target: Target = { type, name: metadata.name, namespace: metadata.namespace };
  try {
    if (metadata.deletionTimestamp) finishOwner(registry, target, stored.object);
    else if (metadata.ownerReferences) collectOrphan(registry, target, stored.object);
  } catch (error) {
    // It was removed or changed in the meantime; that change queues it again.
    if (!(error instanceof ApiStatus) || ![404, 409].includes(error.code)) throw error;
  }
}

function dependentsOf(registry: Registry, owner: KubeObject): { target: Target; object: KubeObject }[] {
  return registry.store.dependents(owner.metadata.uid ?? "").flatMap(({ resource, key }) => {
    const type = registry.types.ofStorage(resource);
    const object = registry.store.get(resource, key)?.object;
    if (!type || !object) return [];
    return [{ target: { type, name: object.metadata.name, namespace: object.metadata.namespace }, object }];
  });
}

function finishOwner(registry: Registry, target: Target, owner: KubeObject): void {
  const finalizers = owner.metadata.finalizers ?? [];
  if (finalizers.includes(dependentFinalizers.Orphan)) {
    for (const dependent of dependentsOf(registry, owner)) dropOwner(registry, dependent, owner);
    dropFinalizer(registry, target, dependentFinalizers.Orphan);
  } else if (finalizers.includes(dependentFinalizers.Foreground)) {
    const dependents = dependentsOf(registry, owner);
    for (const dependent of dependents) {
      if (dependent.object.metadata.deletionTimestamp) continue;
      collectOrphan(registry, dependent.target, dependent.object);
    }
    const blocking = dependentsOf(registry, owner).some(({ object }) =>
      (object.metadata.ownerReferences ?? []).some(
        (ref) => ref.uid === owner.metadata.uid && ref.blockOwnerDeletion,
      ),
    );
    if (!blocking) dropFinalizer(registry, target, dependentFinalizers.Foreground);
  }
}

function dropOwner(
  registry: Registry,
  dependent: { target: Target; object: KubeObject },
  owner: KubeObject,
): void {
  const { object, target } = dependent;
  const kept = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
  writeMetadata(registry, target, { ...object.metadata, ownerReferences: kept });
}

function dropFinalizer(registry: Registry, target: Target, finalizer: string): void {
  const { object } = registry.get(target);
  const kept = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  writeMetadata(registry, target, { ...object.metadata, finalizers: kept });
}

function writeMetadata(registry: Registry, target: Target, metadata: KubeObject["metadata"]): void {
  registry.update(target, { ...registry.get(target).object, metadata });
}

type OwnerState = "present" | "leaving" | "absent";

function ownerState(registry: Registry, ref: OwnerReference, namespace: string | undefined): OwnerState {
  const place = registry.store.locate(ref.uid);
  const owner = place && registry.store.get(place.resource, place.key)?.object;
  // An owner in another namespace does not count: an owner reference has no namespace.
  if (!owner || (owner.metadata.namespace && owner.metadata.namespace !== namespace)) return "absent";
  const leaving =
    owner.metadata.deletionTimestamp && owner.metadata.finalizers?.includes(dependentFinalizers.Foreground);
  return leaving ? "leaving" : "present";
}

function collectOrphan(registry: Registry, target: Target, object: KubeObject): void {
  const refs = object.metadata.ownerReferences ?? [];
  if (refs.length === 0) return;
  const states = refs.map((ref) => ownerState(registry, ref, object.metadata.namespace));
  if (states.includes("present")) {
    if (states.every((state) => state === "present")) return;
    const kept = refs.filter((_ref, index) => states[index] === "present");
    writeMetadata(registry, target, { ...object.metadata, ownerReferences: kept });
    return;
  }
  const waitedFor = states.some((state, index) => state === "leaving" && refs[index]?.blockOwnerDeletion);
  const propagationPolicy = waitedFor ? "Foreground" : "Background";
  const uid = object.metadata.uid;
  registry.remove(target, { propagationPolicy, ...(uid ? { preconditions: { uid } } : {}) });
}
