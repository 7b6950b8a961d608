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
  /** Drops the oldest changes above the limit; returns the version up to which they are gone. */
  trim(): number | undefined;
  horizon(): number;
  /** Memory use of the history. */
  retained(): Retained;
};

export type Retained = {
  objects: number;
  changes: number;
  /** Bytes of the objects in the history. */
  bytes: number;
  /** Decoded values in the history. */
  held: number;
};

const keptChanges = 1024;
const trimBatch = 256;
/** Bytes of objects that the history of one kind may hold, whatever their number. */
const keptBytes = 2 << 20;
const trimBytes = 512 << 10;
/** The newest few are kept, whatever their size. */
const leastChanges = 8;

/** Creates an empty collection whose history starts after `horizon`. */
export function createCollection(initialHorizon: number): Collection {
  const objects = new Map<string, Stored>();
  const keys: string[] = [];
  let changes: Change[] = [];
  let bytes = 0;
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
    record: (change) => {
      changes.push(change);
      bytes += change.current.bytes.length;
    },
    changesAfter: (version) => {
      if (version < horizon) return undefined;
      const start = changes.findLastIndex((change) => change.version <= version) + 1;
      return changes.slice(start);
    },
    trim: () => {
      const isLong = changes.length >= keptChanges + trimBatch;
      const isLarge = bytes >= keptBytes + trimBytes && changes.length > leastChanges;
      if (!isLong && !isLarge) return undefined;
      let gone = 0;
      const isOver = () => bytes > keptBytes || changes.length - gone > keptChanges;
      while (changes.length - gone > leastChanges && isOver()) {
        bytes -= changes[gone]?.current.bytes.length ?? 0;
        gone += 1;
      }
      horizon = changes[gone - 1]?.version ?? horizon;
      changes = changes.slice(gone);
      return horizon;
    },
    retained: () => ({
      objects: objects.size,
      changes: changes.length,
      bytes,
      held: countHeld(changes, objects),
    }),
    horizon: () => horizon,
  };
}

function countHeld(changes: readonly Change[], objects: ReadonlyMap<string, Stored>): number {
  const past = changes.flatMap(({ current, previous }) => (previous ? [current, previous] : [current]));
  return new Set(past.filter((stored) => stored.isHeld && objects.get(stored.key) !== stored)).size;
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
