import type { Change, Stored } from "./stored.ts";

/** All objects of one stored kind, in the order of their keys, with the recent changes. */
export type Collection = {
  get(key: string): Stored | undefined;
  set(stored: Stored): void;
  delete(key: string): void;
  /** Objects of one namespace, or all of them, in the order of keys, from `start` (exclusive) on. */
  range(options: { namespace?: string; after?: string }): Iterable<Stored>;
  size(): number;
  countIn(namespace: string): number;
  record(change: Change): void;
  /** Changes after a version, undefined when some of them are no longer known. */
  changesAfter(version: number): Change[] | undefined;
  /** Drops the oldest changes when there are too many; returns the version up to which they are gone. */
  trim(): number | undefined;
  horizon(): number;
};

const keptChanges = 1024;
const trimBatch = 256;

/** Makes an empty collection whose history starts after `horizon`. */
export function createCollection(initialHorizon: number): Collection {
  const objects = new Map<string, Stored>();
  const keys: string[] = [];
  let changes: Change[] = [];
  let horizon = initialHorizon;

  return {
    get: (key) => objects.get(key),
    size: () => objects.size,
    countIn: (namespace) => lowerBound(keys, `${namespace}0`) - lowerBound(keys, `${namespace}/`),
    set: (stored) => {
      if (!objects.has(stored.key)) keys.splice(lowerBound(keys, stored.key), 0, stored.key);
      objects.set(stored.key, stored);
    },
    delete: (key) => {
      if (objects.delete(key)) keys.splice(lowerBound(keys, key), 1);
    },
    range: ({ namespace, after }) => walk({ objects, keys }, namespace, after),
    record: (change) => changes.push(change),
    changesAfter: (version) => {
      if (version < horizon) return undefined;
      const start = changes.findLastIndex((change) => change.version <= version) + 1;
      return changes.slice(start);
    },
    trim: () => {
      if (changes.length < keptChanges + trimBatch) return undefined;
      horizon = changes[trimBatch - 1]?.version ?? horizon;
      changes = changes.slice(trimBatch);
      return horizon;
    },
    horizon: () => horizon,
  };
}

type Index = { objects: Map<string, Stored>; keys: string[] };

// "0" follows "/" in the order of characters, so `ns/` to `ns0` is exactly one namespace.
function* walk(
  { objects, keys }: Index,
  namespace: string | undefined,
  after: string | undefined,
): Iterable<Stored> {
  const from = namespace === undefined ? 0 : lowerBound(keys, `${namespace}/`);
  const to = namespace === undefined ? keys.length : lowerBound(keys, `${namespace}0`);
  const start = after === undefined ? from : Math.max(from, lowerBound(keys, `${after}\u0000`));
  for (let index = start; index < to; index += 1) {
    const stored = objects.get(keys[index] ?? "");
    if (stored) yield stored;
  }
}

function lowerBound(keys: string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
