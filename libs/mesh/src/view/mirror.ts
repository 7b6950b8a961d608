// A reader's copy of a view (docs/reference/mesh.md#views): replaced as a whole after a gap, so that it is never partial.

import type { View } from "@svc/proto";
import type { ViewMirror } from "../api.ts";
import type { Core } from "../core.ts";
import type { StreamMessage } from "../stream/direct-get.ts";
import { bucketFilter, bucketStream, isRemoval, isSame, keyOf, metaKey } from "../stream/key-value.ts";
import { openOrdered } from "../stream/ordered.ts";
import { createCatchingUp } from "./catch-up.ts";
import { readMark } from "./mark.ts";
import { createFreshness } from "./marking.ts";

// The owner's marks show sooner what was missed.
const heartbeatMs = 30_000;

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
  const isFresh = createFreshness(core, view);
  const catchingUp = createCatchingUp(core, view);
  const { report, onChange } = createListeners();

  const swapWhenComplete = () => {
    // Until the owner says that the view is current, it may still be filling the bucket.
    if (!next?.isCaughtUp || next.currentAt === undefined) return;
    const changed = current && keysThatDiffer(current.values, next.values);
    if (!changed || changed.length > 0) {
      version += 1;
      sortedKeys = undefined;
    }
    current = next;
    next = undefined;
    for (const key of changed ?? []) report(key);
  };
  const change = (copy: Copy, key: string, message: StreamMessage) => {
    if (changeEntry(copy, key, message)) sortedKeys = undefined;
    if (next) return;
    version += 1;
    report(key);
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
      const mark = readMark(message, copy.bucket);
      // A live mark is new; a stored one is as old as it says.
      if (next?.isCaughtUp === false) copy.currentAt = mark?.at;
      else if (mark === undefined) return reader.restart();
      else vouch(copy, lateness(message.timestampNs));
      swapWhenComplete();
      if (!next) catchingUp.marked(mark?.caughtUp);
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
    keys: () => (sortedKeys ??= [...(current?.values.keys() ?? [])].sort()),
    ageMs: () => ageOf(current),
    onChange,
    isFresh: () => isFresh(current?.vouchedAt),
    catchUp: catchingUp.request,
    close: () => {
      catchingUp.close();
      return reader.close();
    },
  };
}

function createListeners() {
  const listeners: ((key: string) => void)[] = [];
  return {
    report: (key: string) => {
      for (const listener of listeners) listener(key);
    },
    onChange: (listener: (key: string) => void) => void listeners.push(listener),
  };
}

function vouch(copy: Copy, latenessMs: number): void {
  copy.currentAt = Date.now();
  copy.vouchedAt = performance.now() - latenessMs;
}

function ageOf(copy: Copy | undefined): number {
  if (copy?.currentAt === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, Date.now() - copy.currentAt);
}

/** True when the copy has another set of keys now. */
function changeEntry({ values }: Copy, key: string, message: StreamMessage): boolean {
  if (isRemoval(message)) return values.delete(key);
  const isNew = !values.has(key);
  values.set(key, message.body.slice());
  return isNew;
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

function keysThatDiffer(
  left: ReadonlyMap<string, Uint8Array>,
  right: ReadonlyMap<string, Uint8Array>,
): string[] {
  const differing = [...left.keys()].filter((key) => !right.has(key));
  for (const [key, bytes] of right) {
    const other = left.get(key);
    if (!other || !isSame(bytes, other)) differing.push(key);
  }
  return differing;
}
