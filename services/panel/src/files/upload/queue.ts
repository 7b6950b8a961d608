// The queue of one tab: what is worked on next, and what the person decides for all of it. Pure.

import { decideStep, type UploadItem, type UploadStep } from "./item.ts";

/** What is done with files that exist already, once the person has said it. */
export type ConflictRule = "replace" | "skip";

export type UploadQueue = {
  items: readonly UploadItem[];
  isPaused: boolean;
  /** Nobody is signed in: everything waits. */
  isSignedOut: boolean;
  rule: ConflictRule | undefined;
};

export const emptyQueue: UploadQueue = { items: [], isPaused: false, isSignedOut: false, rule: undefined };

export type NextWork =
  | { item: UploadItem; step: Exclude<UploadStep, { do: "nothing" | "wait" | "ask-for-file" }> }
  | { until: number }
  | undefined;

/** The first item with something to do; else when the next one has. Folders come before what is in them. */
export function nextWork(
  queue: UploadQueue,
  about: { hasFile: (id: string) => boolean; now: number },
): NextWork {
  if (queue.isPaused || queue.isSignedOut) return undefined;
  const { now, hasFile } = about;
  let until = Number.POSITIVE_INFINITY;
  for (const item of queue.items) {
    const step = decideStep(item, { hasFile: hasFile(item.id), now });
    if (step.do === "nothing" || step.do === "ask-for-file") continue;
    if (step.do !== "wait") return { item, step };
    until = Math.min(until, step.until);
    // A folder that is not there yet, or a commit that runs: what comes after would only wait as well.
    if (item.kind === "folder" || item.op !== undefined) break;
  }
  return until === Number.POSITIVE_INFINITY ? undefined : { until };
}

/** Puts an item in the place of its older self; one that was removed meanwhile stays away. */
export function withItem(queue: UploadQueue, changed: UploadItem): UploadQueue {
  const item = changed.state.is === "exists" ? settleConflict(changed, queue.rule) : changed;
  const items = queue.items.map((old) => (old.id === item.id ? item : old));
  return { ...queue, items };
}

/** The answer for all files that exist already, now and later in this queue. */
export function withRule(queue: UploadQueue, rule: ConflictRule): UploadQueue {
  const items = queue.items.map((item) => (item.state.is === "exists" ? settleConflict(item, rule) : item));
  return { ...queue, rule, items };
}

function settleConflict(item: UploadItem, rule: ConflictRule | undefined): UploadItem {
  if (rule === "replace" && !item.overwrite)
    return { ...item, overwrite: true, isSynced: false, state: { is: "open" } };
  return rule === "skip" ? { ...item, state: { is: "skipped" } } : item;
}

/** New items at the end. The rule of a queue that had come to its end is forgotten. */
export function withNew(queue: UploadQueue, items: readonly UploadItem[]): UploadQueue {
  if (queue.items.every(isOver)) {
    const failed = queue.items.filter(({ state }) => state.is === "failed");
    return { ...queue, rule: undefined, isPaused: false, items: [...failed, ...items] };
  }
  const settled = items.map((item) => (item.state.is === "exists" ? settleConflict(item, queue.rule) : item));
  return { ...queue, items: [...queue.items, ...settled] };
}

/** Failed items are tried again. */
export function withRetry(queue: UploadQueue): UploadQueue {
  const items = queue.items.map((item) =>
    item.state.is === "failed"
      ? { ...item, attempts: 0, isSynced: false, state: { is: "open" } as const }
      : item,
  );
  return { ...queue, items };
}

export function isOver({ state }: UploadItem): boolean {
  return state.is === "done" || state.is === "failed" || state.is === "skipped";
}

export type QueueSummary = {
  files: number;
  done: number;
  failed: number;
  skipped: number;
  existing: number;
  bytes: number;
  received: number;
  /** Files whose bytes are not at hand, as after a reload. */
  missing: readonly UploadItem[];
  isOver: boolean;
};

/** How the queue stands. `sending` is what the running request has sent of its part. */
export function summaryOf(
  queue: UploadQueue,
  about: { hasFile: (id: string) => boolean; sending: number },
): QueueSummary {
  const files = queue.items.filter(({ kind, state }) => kind === "file" && state.is !== "skipped");
  const countOf = (is: UploadItem["state"]["is"]) => files.filter(({ state }) => state.is === is).length;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const received = files.reduce(
    (sum, item) => sum + (item.state.is === "failed" ? item.size : item.received),
    0,
  );
  return {
    files: files.length,
    done: countOf("done"),
    failed: queue.items.filter(({ state }) => state.is === "failed").length,
    skipped: queue.items.filter(({ state }) => state.is === "skipped").length,
    existing: countOf("exists"),
    bytes,
    received: Math.min(bytes, received + about.sending),
    missing: files.filter(
      (item) =>
        decideStep(item, { hasFile: about.hasFile(item.id), now: Number.POSITIVE_INFINITY }).do ===
        "ask-for-file",
    ),
    isOver: queue.items.every(isOver),
  };
}
