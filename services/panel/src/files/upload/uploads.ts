// The uploads of this tab: one queue, one request at a time, going on whatever page is open.

import { call } from "../../api/call.ts";
import { ApiError } from "../../api/error.ts";
import { onSignOut } from "../../api/sign-out.ts";
import { act } from "./act.ts";
import type { UploadItem } from "./item.ts";
import { forgetKeptUploads } from "./kept-names.ts";
import { claimKeptQueue } from "./kept-queue.ts";
import { type Chosen, matchFiles, planContext, planItems } from "./plan.ts";
import {
  type ConflictRule,
  emptyQueue,
  isOver,
  type NextWork,
  nextWork,
  type UploadQueue,
  withItem,
  withNew,
  withRetry,
  withRule,
} from "./queue.ts";
import { addSample, type Sample } from "./speed.ts";

/** A file as it was chosen, with its bytes. */
export type ChosenFile = Chosen & { file?: File };

/** Where files go, and which paths are known to be there. */
export type UploadTarget = { server: string; folder: string; existing: ReadonlySet<string> };

export type Uploads = {
  queue: UploadQueue;
  /** Id of the item that is worked on. */
  runningId: string | undefined;
  /** Bytes that the running request has sent. */
  sending: number;
  samples: readonly Sample[];
};

let now: Uploads = { queue: emptyQueue, runningId: undefined, sending: 0, samples: [] };
const listeners = new Set<() => void>();
const bytesOf = new Map<string, File>();
let save: (items: readonly UploadItem[]) => void = () => undefined;
let claimedFor: string | undefined;
let running: AbortController | undefined;
let isWorking = false;
let wake: () => void = () => undefined;

export const readUploads = (): Uploads => now;
export const hasFile = (id: string): boolean => bytesOf.has(id);

export function subscribeUploads(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: Partial<Uploads>): void {
  now = { ...now, ...next };
  if (next.queue) save(next.queue.items);
  for (const listener of listeners) listener();
}

/** Changes the queue and goes on with it. */
function changeQueue(queue: UploadQueue): void {
  change({ queue });
  wake();
  void work();
}

/** Takes over what was kept of earlier pages of this person. */
export async function startUploads(userId: string): Promise<void> {
  if (claimedFor === userId) return;
  claimedFor = userId;
  onSignOut(forgetUploads);
  const kept = await claimKeptQueue(userId);
  save = kept.save;
  changeQueue({ ...now.queue, items: [...kept.items, ...now.queue.items] });
}

/** The names of files go with the session, and nothing may write them down again. */
function forgetUploads(): void {
  save = () => undefined;
  running?.abort();
  bytesOf.clear();
  change({ queue: emptyQueue, runningId: undefined });
  forgetKeptUploads();
}

/** Puts files at the end of the queue; what waits for its bytes after a reload takes them instead. */
export function addFiles(chosen: readonly ChosenFile[], target: UploadTarget): void {
  const rest = attachFiles(chosen, ({ server }) => server === target.server);
  const planned = planItems(rest, { ...target, newId: () => crypto.randomUUID() });
  for (const { item, chosen: one } of planned) if (one?.file) bytesOf.set(item.id, one.file);
  changeQueue(
    withNew(
      now.queue,
      planned.map(({ item }) => item),
    ),
  );
}

/** Puts the context of a submission at the end of the queue, in the place of another file that was chosen for it. */
export function addContext(submission: string, file: File): void {
  const [other] = attachFiles([{ path: file.name, file }], (item) => item.submission === submission);
  if (!other) return;
  cancelUploads(now.queue.items.filter((item) => item.submission === submission));
  const item = planContext(submission, file, () => crypto.randomUUID());
  bytesOf.set(item.id, file);
  changeQueue(withNew(now.queue, [item]));
}

/** Gives waiting items their bytes; what belongs to none is given back. */
export function attachFiles(
  chosen: readonly ChosenFile[],
  isMeant: (item: UploadItem) => boolean = () => true,
): ChosenFile[] {
  const waiting = now.queue.items.filter(
    (item) => item.kind === "file" && !bytesOf.has(item.id) && isMeant(item),
  );
  const matches = matchFiles(waiting, chosen);
  for (const { id, chosen: one } of matches) if (one.file) bytesOf.set(id, one.file);
  changeQueue({ ...now.queue });
  const taken = new Set(matches.map(({ chosen: one }) => one));
  return chosen.filter((one) => !taken.has(one));
}

export function pauseUploads(): void {
  change({ queue: { ...now.queue, isPaused: true } });
  running?.abort();
  wake();
}

export function resumeUploads(): void {
  changeQueue({ ...now.queue, isPaused: false, isSignedOut: false });
}

export function retryUploads(): void {
  changeQueue(withRetry(now.queue));
}

export function settleConflicts(rule: ConflictRule): void {
  changeQueue(withRule(now.queue, rule));
}

/** Takes items out of the queue; what the service has of them is dropped. */
export function cancelUploads(items: readonly UploadItem[]): void {
  const ids = new Set(items.map(({ id }) => id));
  change({ queue: { ...now.queue, items: now.queue.items.filter(({ id }) => !ids.has(id)) } });
  if (now.runningId !== undefined && ids.has(now.runningId)) running?.abort();
  for (const item of items) {
    bytesOf.delete(item.id);
    if (!isOver(item)) void dropSession(item);
  }
  wake();
  void work();
}

async function dropSession({ server, submission, session, op }: UploadItem): Promise<void> {
  if (session === undefined || op !== undefined || submission !== undefined) return;
  // What cannot be dropped now goes by itself when nothing is written to it.
  await call("uploads.cancel", { name: server, id: session }).catch(() => undefined);
}

async function work(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  try {
    for (;;) {
      const next = nextWork(now.queue, { hasFile, now: Date.now() });
      if (!next) return;
      if ("until" in next) await waitUntil(next.until);
      else await workOn(next);
    }
  } finally {
    isWorking = false;
    change({ runningId: undefined, sending: 0, samples: [] });
  }
}

function waitUntil(until: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, until - Date.now()));
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

async function workOn({ item, step }: Extract<NonNullable<NextWork>, { item: UploadItem }>): Promise<void> {
  running = new AbortController();
  change({ runningId: item.id, sending: 0 });
  const onProgress = (sending: number) =>
    change({
      sending,
      samples: addSample(now.samples, { at: Date.now(), bytes: item.received + sending, id: item.id }),
    });
  try {
    const file = bytesOf.get(item.id);
    const changed = await act({ item, step, file, signal: running.signal, onProgress });
    if (changed.state.is === "done") bytesOf.delete(item.id);
    change({ queue: withItem(now.queue, changed), sending: 0 });
  } catch (error) {
    if (error instanceof ApiError) change({ queue: { ...now.queue, isSignedOut: true } });
    else if (!running.signal.aborted) throw error;
    // Nobody knows how much of the part arrived.
    change({ queue: withItem(now.queue, { ...item, isSynced: item.session === undefined }), sending: 0 });
  }
}
