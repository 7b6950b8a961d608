// A reader's copy of a view (docs/reference/mesh.md#views): replaced as a whole after a gap, so that it is never partial.

import type { View } from "@svc/proto";
import type { ViewMirror } from "../api.ts";
import type { Core } from "../core.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { bucketFilter, bucketStream, isRemoval, isSame, keyOf, metaKey } from "../stream/key-value.ts";
import { openOrdered } from "../stream/ordered.ts";
import { markedAt } from "./mark.ts";

const heartbeatMs = 5_000;

/** `currentAt`: when the owner marked it last. `vouchedAt`: the same for marks received as they were made; monotonic. */
type Copy = {
  /** When the bucket was created that it was read from. */
  bucket: string;
  values: Map<string, Uint8Array>;
  currentAt: number | undefined;
  vouchedAt: number;
};

const emptyCopy = (bucket: string): Copy => ({
  bucket,
  values: new Map(),
  currentAt: undefined,
  vouchedAt: Number.NEGATIVE_INFINITY,
});

/** Mirrors the bucket of `view` until closed. */
export function mirrorView(core: Core, view: View): ViewMirror {
  let current: Copy | undefined;
  let next: (Copy & { isCaughtUp: boolean }) | undefined;
  let version = 0;
  let sortedKeys: string[] | undefined;
  let lateness = createLateness();

  const swapWhenComplete = () => {
    // Until the owner says that the view is current, it may still be filling the bucket.
    if (!next?.isCaughtUp || next.currentAt === undefined) return;
    if (!current || !isSameCopy(current.values, next.values)) {
      version += 1;
      sortedKeys = undefined;
    }
    current = next;
    next = undefined;
  };
  const change = (copy: Copy, key: string, message: StreamMessage) => {
    if (!next) version += 1;
    if (isRemoval(message)) {
      if (copy.values.delete(key)) sortedKeys = undefined;
      return;
    }
    if (!copy.values.has(key)) sortedKeys = undefined;
    copy.values.set(key, message.body.slice());
  };
  const reader = openOrdered(core, {
    stream: bucketStream(view.name),
    filter: bucketFilter(view),
    heartbeatMs,
    startFrom: () => ({ at: "first" }),
    onStart: ({ created }) => {
      next = { ...emptyCopy(created), isCaughtUp: false };
      lateness = createLateness();
    },
    onMessage: (message) => {
      const copy = next ?? current;
      if (!copy) return;
      const key = keyOf(view, message);
      if (key !== metaKey) return change(copy, key, message);
      const at = markedAt(message, copy.bucket);
      // A live mark is new; a stored one is as old as it says.
      if (next?.isCaughtUp === false) copy.currentAt = at;
      else if (at === undefined) return reader.restart();
      else {
        copy.currentAt = Date.now();
        copy.vouchedAt = performance.now() - lateness(message.timestampNs);
      }
      swapWhenComplete();
    },
    onCaughtUp: () => {
      if (next) next.isCaughtUp = true;
      swapWhenComplete();
    },
  });

  return {
    get ready() {
      return current !== undefined;
    },
    get version() {
      return version;
    },
    get size() {
      return current?.values.size ?? 0;
    },
    get: (key) => current?.values.get(key),
    keys: () => {
      sortedKeys ??= [...(current?.values.keys() ?? [])].sort();
      return sortedKeys;
    },
    ageMs: () =>
      current?.currentAt === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(0, Date.now() - current.currentAt),
    isFresh: () => current !== undefined && performance.now() - current.vouchedAt < view.staleAfterMs,
    close: () => reader.close(),
  };
}

/**
 * Milliseconds that a message took longer than the quickest one. A mark that waited in a buffer, because this process or
 * the network stood still, vouches for no later time than that of its storing. The clocks of NATS and this process need
 * not agree; a millisecond for each mark lets the quickest follow their drift.
 */
function createLateness(): (timestampNs: bigint) => number {
  let quickest = Number.POSITIVE_INFINITY;
  return (timestampNs) => {
    const tookMs = Date.now() - Number(timestampNs / 1_000_000n);
    quickest = Math.min(quickest + 1, tookMs);
    return tookMs - quickest;
  };
}

function isSameCopy(left: ReadonlyMap<string, Uint8Array>, right: ReadonlyMap<string, Uint8Array>): boolean {
  if (left.size !== right.size) return false;
  for (const [key, bytes] of left) {
    const other = right.get(key);
    if (!other || !isSame(bytes, other)) return false;
  }
  return true;
}
