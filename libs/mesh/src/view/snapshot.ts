// What a writer knows of its bucket, and what it must write again after the bucket lost something. No effects here.

import { isSame } from "../stream/key-value.ts";

/** `bytes` undefined = removed. `sequence` 0 = not stored yet. `isMine` = this writer put it there last. */
export type Known = { bytes: Uint8Array | undefined; sequence: number; isMine: boolean };

export type Snapshot = ReadonlyMap<string, { bytes: Uint8Array | undefined; sequence: number }>;

/**
 * Merges a full read of the bucket into `known` and answers the keys whose value of ours is not there any more.
 * `isNewBucket` says that the bucket was made anew: its sequences tell nothing about ours.
 */
export function reconcile(known: Map<string, Known>, snapshot: Snapshot, isNewBucket: boolean): string[] {
  const lost: string[] = [];
  for (const [key, stored] of snapshot) {
    const ours = known.get(key);
    if (!ours?.isMine || (!isNewBucket && stored.sequence > ours.sequence && ours.sequence > 0)) {
      known.set(key, { ...stored, isMine: false });
    } else if (isSameValue(ours.bytes, stored.bytes)) {
      ours.sequence = stored.sequence;
    } else {
      lost.push(key);
    }
  }
  for (const [key, ours] of known) {
    if (snapshot.has(key)) continue;
    if (ours.isMine && ours.bytes !== undefined) lost.push(key);
    else known.delete(key);
  }
  return lost;
}

/** True when the stored value is this one already. */
export function isStored(
  known: ReadonlyMap<string, Known>,
  key: string,
  bytes: Uint8Array | undefined,
): boolean {
  const current = known.get(key);
  if (!current) return bytes === undefined;
  return current.sequence > 0 && isSameValue(current.bytes, bytes);
}

function isSameValue(left: Uint8Array | undefined, right: Uint8Array | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return isSame(left, right);
}
