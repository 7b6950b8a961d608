import type { ClusterApi, KubeObject, ResourceRef } from "../cluster-api.ts";
import { controllerOf, keyOf } from "./objects.ts";

type Listener<T> = (object: T, previous: T | undefined, deleted: boolean) => void;

/** A local copy of one resource, kept current by a watch. Its objects are shared: never change one. */
export type Informer<T extends KubeObject> = {
  get(key: string): T | undefined;
  values(): Iterable<T>;
  inNamespace(namespace: string): Iterable<T>;
  /** Objects whose controller owner has this uid. */
  ownedBy(uid: string): T[];
  /** Calls back for every known object and for every later change. */
  onChange(listener: Listener<T>): void;
  /** Adds an object that was just created, so that a pass before its watch event does not create it twice. */
  assume(object: KubeObject): void;
  close(): void;
};

/** The part of an informer that a copy of a remote API server offers too. */
export type Source<T extends KubeObject> = Pick<Informer<T>, "get" | "values" | "onChange" | "assume">;

type Index = Map<string, Set<string>>;

function put(index: Index, group: string | undefined, key: string): void {
  if (group === undefined) return;
  const members = index.get(group);
  if (members === undefined) index.set(group, new Set([key]));
  else members.add(key);
}

function drop(index: Index, group: string | undefined, key: string): void {
  if (group === undefined) return;
  const members = index.get(group);
  members?.delete(key);
  if (members?.size === 0) index.delete(group);
}

function pick<T>(objects: Map<string, T>, keys: Iterable<string> | undefined): T[] {
  const found: T[] = [];
  for (const key of keys ?? []) {
    const object = objects.get(key);
    if (object !== undefined) found.push(object);
  }
  return found;
}

export function createInformer<T extends KubeObject>(api: ClusterApi, ref: ResourceRef): Informer<T> {
  const objects = new Map<string, T>();
  const namespaces: Index = new Map();
  const owners: Index = new Map();
  const listeners: Listener<T>[] = [];
  const forget = (key: string, object: T) => {
    objects.delete(key);
    drop(namespaces, object.metadata.namespace, key);
    drop(owners, controllerOf(object)?.uid, key);
  };
  const store = (key: string, object: T) => {
    objects.set(key, object);
    put(namespaces, object.metadata.namespace, key);
    put(owners, controllerOf(object)?.uid, key);
  };
  const end = api.watch(ref, {}, ({ type, object: raw }) => {
    const object = raw as T;
    const key = keyOf(object);
    const previous = objects.get(key);
    if (previous !== undefined) forget(key, previous);
    if (type !== "DELETED") store(key, object);
    for (const listener of listeners) listener(object, previous, type === "DELETED");
  });
  return {
    get: (key) => objects.get(key),
    values: () => objects.values(),
    inNamespace: (namespace) => pick(objects, namespaces.get(namespace)),
    ownedBy: (uid) => pick(objects, owners.get(uid)),
    onChange: (listener) => {
      listeners.push(listener);
      for (const object of [...objects.values()]) listener(object, undefined, false);
    },
    assume: (object) => {
      if (!objects.has(keyOf(object))) store(keyOf(object), object as T);
    },
    close: end,
  };
}
