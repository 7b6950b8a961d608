import type { KubeObject } from "../../cluster-api.ts";

/** One stored object: frozen value, its JSON (kind and apiVersion first) and the version of its last write. */
export type Stored = { key: string; object: KubeObject; bytes: Buffer; version: number };

/** One write in the order of versions. `previous` is unknown for the oldest change of a key after a restart. */
export type Change = {
  type: "ADDED" | "MODIFIED" | "DELETED";
  version: number;
  key: string;
  current: Stored;
  previous?: Stored;
  /** Watch lines made of this change, one per event type, shared by all watchers. */
  lines: Map<string, Buffer>;
};

/** `namespace/name`, or `/name` for a cluster-wide object. Sorting keys sorts by namespace, then name. */
export function storeKey(name: string, namespace = ""): string {
  return `${namespace}/${name}`;
}

/** Makes the stored form of an object: kind and apiVersion first, deep-frozen by the caller. */
export function orderKeys(object: KubeObject): KubeObject {
  const { kind, apiVersion, metadata, ...rest } = object;
  return { kind, apiVersion, metadata, ...rest };
}
