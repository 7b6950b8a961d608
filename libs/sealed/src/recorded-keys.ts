// The clear-text object `svc-key-id` of a bucket: which keys its objects are sealed with.

import { findKey, type KeyRing, keysOf } from "./key.ts";

/** Ids of the keys in use, the active one first. */
export type RecordedKeys = readonly string[];

/** Reads the object; undefined when it has anything but ids of keys, one on each line. */
export function parseRecordedKeys(text: string): RecordedKeys | undefined {
  const ids = text.split("\n").filter((line) => line !== "");
  return ids.length > 0 && ids.every((id) => /^[0-9a-f]{16}$/.test(id)) ? ids : undefined;
}

export function formatRecordedKeys(ids: RecordedKeys): string {
  return ids.map((id) => `${id}\n`).join("");
}

/**
 * How a ring fits a bucket. `unused`: the bucket names no key. `same`: it is written with our active key. `rotated`: it is
 * written with one of our older keys, so the active one is new and is recorded by the next pass. `other`: it is written
 * with a key that we do not have.
 */
export type KeyFit = "unused" | "same" | "rotated" | "other";

/** Compares a ring with what the bucket names; undefined = it names none. */
export function compareKeys(ring: KeyRing, recorded: RecordedKeys | undefined): KeyFit {
  const [current] = recorded ?? [];
  if (current === undefined) return "unused";
  if (current === ring.active.id) return "same";
  return findKey(ring, current) ? "rotated" : "other";
}

/** What the bucket names once the ring writes to it: the active key, then the keys of objects that are not re-sealed. */
export function recordKeys(ring: KeyRing, recorded: RecordedKeys | undefined): RecordedKeys {
  return [...new Set([ring.active.id, ...(recorded ?? [])])];
}

/** Keys that objects of the bucket are sealed with and that the ring lacks. */
export function missingKeys(ring: KeyRing, recorded: RecordedKeys | undefined): RecordedKeys {
  const known = new Set(keysOf(ring).map(({ id }) => id));
  return (recorded ?? []).filter((id) => !known.has(id));
}
