// What a writer knows about its bucket, and what it must write again after the bucket lost something. Pure.

import { isSame } from "../stream/key-value.ts";

/** `bytes` undefined: removed. `sequence` 0: not stored yet. `isMine`: this writer wrote it last. */
export type KnownEntry = { bytes: Uint8Array | undefined; sequence: number; isMine: boolean };

type Snapshot = ReadonlyMap<string, { bytes: Uint8Array | undefined; sequence: number }>;

/**
 * Merges a full read of the bucket into `known` and returns the keys whose value, written by us, is gone.
 * `isNewBucket`: the bucket was created again, so its sequences cannot be compared with ours, and what others wrote was
 * lost, not removed.
 */
export function reconcile(
  known: Map<string, KnownEntry>,
  snapshot: Snapshot,
  isNewBucket: boolean,
): string[] {
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
    if ((ours.isMine || isNewBucket) && ours.bytes !== undefined) lost.push(key);
    else known.delete(key);
  }
  return lost;
}

/** True when this value is already stored. */
export function isStored(
  known: ReadonlyMap<string, KnownEntry>,
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
