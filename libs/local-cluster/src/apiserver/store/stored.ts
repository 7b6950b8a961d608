import type { KubeObject } from "../../cluster-api.ts";
import { deepFreeze } from "../json.ts";

/** One stored object: frozen value, its JSON (kind and apiVersion first) and the version of its last write. */
export type Stored = {
  readonly key: string;
  /** Parsed from `bytes` on each access once it was released. */
  readonly object: KubeObject;
  readonly bytes: Buffer;
  readonly version: number;
  /** Releases the value when the object is only history: it takes several times the memory of its bytes. */
  release: () => void;
  /** Whether its value is still in memory. */
  readonly isHeld: boolean;
};

/** `object` is the value of `bytes` where that is known. */
export function makeStored(about: {
  key: string;
  bytes: Buffer;
  version: number;
  object?: KubeObject;
}): Stored {
  const { key, bytes, version } = about;
  let held = about.object;
  return {
    key,
    bytes,
    version,
    get object() {
      return held ?? deepFreeze(JSON.parse(bytes.toString()) as KubeObject);
    },
    release: () => {
      held = undefined;
    },
    get isHeld() {
      return held !== undefined;
    },
  };
}

/** Copies bytes out of a shared buffer, which small ones would otherwise keep alive. */
export function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** One write in the order of versions. `previous` is unknown for the oldest change of a key after a restart. */
export type Change = {
  type: "ADDED" | "MODIFIED" | "DELETED";
  version: number;
  key: string;
  current: Stored;
  previous?: Stored;
  /** Encoded watch events of this change, one per event type, shared by all watchers. */
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
