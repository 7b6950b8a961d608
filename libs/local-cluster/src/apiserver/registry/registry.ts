import type { DeleteOptions, KubeObject } from "../../cluster-api.ts";
import { timeText } from "../../time.ts";
import { alreadyExists, conflict, notFound } from "../api-status.ts";
import { isObject, jsonEqual, stringAt, withValueAt } from "../json.ts";
import type { ResourceType } from "../resource-type.ts";
import type { Store } from "../store/store.ts";
import { type Stored, storeKey } from "../store/stored.ts";
import {
  type Admission,
  admitCreate,
  admitUpdate,
  namespaceFinalizers,
  readEnvelope,
  requireNamespace,
} from "./admission.ts";
import { checkPreconditions, planDeletion } from "./deletion.ts";
import type { TypeTable } from "./type-table.ts";

/** One object of one kind. */
export type Target = { type: ResourceType; name: string; namespace?: string | undefined };

/** Options of a write. */
export type WriteOptions = {
  subresource?: "status" | undefined;
  dryRun?: boolean;
};

/** The write and read paths of all kinds, the same for HTTP and for controllers in process. */
export type Registry = ReturnType<typeof createRegistry>;

/** The dependencies of the registry. */
type RegistryParts = { store: Store; types: TypeTable; admission: Admission };

/** Combines the store with the checks of each kind. */
export function createRegistry(parts: RegistryParts) {
  const { store, types } = parts;
  const access = createAccess(parts);
  const { find, get } = access;
  return {
    store,
    types,
    find,
    get,
    create: (type: ResourceType, body: unknown, options: CreateOptions) =>
      createObject(parts, access, { type, body, options }),
    update: (target: Target, body: unknown, options: WriteOptions = {}) =>
      updateObject(parts, access, { target, body, options }),
    remove: (target: Target, options: RemoveOptions = {}) => removeObject(parts, access, { target, options }),
    /** Binds a pod to its node, once. */
    bind: (target: Target, node: string): void => bindPod(access, target, node),
    /** Replaces the finalizers in a namespace's spec; without any a deleted namespace is removed. */
    finalize: (target: Target, finalizers: unknown[]): KubeObject => {
      const { object } = get(target);
      const kept = finalizers.length > 0 ? finalizers : undefined;
      const next = withValueAt(object, ["spec", "finalizers"], kept) as KubeObject;
      return access.replace(target.type, next, { previous: object, dryRun: false });
    },
  };
}

type CreateOptions = WriteOptions & { namespace?: string | undefined };
type RemoveOptions = DeleteOptions & { dryRun?: boolean };
type Access = ReturnType<typeof createAccess>;

function createAccess({ store }: RegistryParts) {
  const find = ({ type, name, namespace }: Target): Stored | undefined =>
    store.get(type.storageKey, storeKey(name, type.namespaced ? namespace : undefined));
  const get = (target: Target): Stored => {
    const stored = find(target);
    if (!stored) throw notFound(target.type, target.name);
    return stored;
  };
  const save = (type: ResourceType, object: KubeObject, dryRun = false): KubeObject =>
    dryRun ? object : store.put(type.storageKey, object).object;
  /** Writes the next state, or removes the object when nothing keeps it any more. A write without changes is skipped. */
  const replace = (
    type: ResourceType,
    next: KubeObject,
    { previous, dryRun }: { previous: KubeObject; dryRun: boolean },
  ): KubeObject => {
    const { resourceVersion } = previous.metadata;
    const metadata = { ...next.metadata, ...(resourceVersion ? { resourceVersion } : {}) };
    if (jsonEqual({ ...next, metadata }, previous)) return previous;
    if (!isReleased(type, next)) return save(type, next, dryRun);
    return dryRun ? next : store.remove(type.storageKey, next).object;
  };
  return { find, get, save, replace };
}

type Creation = { type: ResourceType; body: unknown; options: CreateOptions };

function createObject(
  { store, admission }: RegistryParts,
  { find, save }: Access,
  creation: Creation,
): KubeObject {
  const { type, body, options } = creation;
  const { namespace } = options;
  const envelope = readEnvelope(type, body, namespace);
  if (type.namespaced)
    requireNamespace(type, envelope, store.get("/namespaces", storeKey(namespace ?? "", ""))?.object);
  const given = envelope.metadata.name;
  const taken = given ? find({ type, name: given, namespace }) : undefined;
  if (taken) throw alreadyExists(type, given, taken.object.metadata.deletionTimestamp !== undefined);
  for (let tries = 0; ; tries += 1) {
    const object = admitCreate(admission, type, envelope);
    if (!find({ type, name: object.metadata.name, namespace })) return save(type, object, options.dryRun);
    if (tries >= 8) throw alreadyExists(type, object.metadata.name);
  }
}

type Update = { target: Target; body: unknown; options: WriteOptions };

function updateObject({ admission }: RegistryParts, { get, replace }: Access, update: Update): KubeObject {
  const { target, body, options } = update;
  const { type } = target;
  const envelope = readEnvelope(type, body, target.namespace);
  const { object: previous } = get(target);
  const next = admitUpdate(admission, type, { next: envelope, previous, subresource: options.subresource });
  return replace(type, next, { previous, dryRun: options.dryRun === true });
}

type Removal = { target: Target; options: RemoveOptions };

function removeObject(
  { store, admission }: RegistryParts,
  { get }: Access,
  { target, options }: Removal,
): { gone: boolean; object: KubeObject } {
  const { type } = target;
  const { object } = get(target);
  checkPreconditions(type, object, options);
  const hasDependents = store.dependents(object.metadata.uid ?? "").length > 0;
  const plan = planDeletion(type, object, { options, hasDependents, now: admission.now() });
  const gone = plan.step === "remove";
  if (options.dryRun || plan.step === "wait") return { gone, object: plan.object };
  const stored = gone ? store.remove(type.storageKey, plan.object) : store.put(type.storageKey, plan.object);
  return { gone, object: stored.object };
}

function bindPod({ get, save }: Access, target: Target, node: string): void {
  const { object } = get(target);
  const bound = stringAt(object.spec, "nodeName");
  if (bound !== "") {
    throw conflict(target.type, target.name, `pod ${target.name} is already assigned to node "${bound}"`);
  }
  if (object.metadata.deletionTimestamp) {
    throw conflict(
      target.type,
      target.name,
      `pod ${target.name} is being deleted, cannot be assigned to a host`,
    );
  }
  const conditions = Array.isArray(object.status?.["conditions"]) ? object.status["conditions"] : [];
  const others = conditions.filter(
    (condition) => isObject(condition) && condition["type"] !== "PodScheduled",
  );
  const scheduled = {
    type: "PodScheduled",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: timeText(),
  };
  save(target.type, {
    ...object,
    spec: { ...object.spec, nodeName: node },
    status: { ...object.status, conditions: [...others, scheduled] },
  });
}

// A marked object is removed with its last finalizer; a pod also needs the confirmation of its node.
function isReleased(type: ResourceType, object: KubeObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  if (!deletionTimestamp || (finalizers ?? []).length > 0) return false;
  if (type.storageKey === "/namespaces" && namespaceFinalizers(object) !== undefined) return false;
  return (deletionGracePeriodSeconds ?? 0) === 0;
}
