// The bulk run of this tab: it goes on whatever page is open.

import { call } from "../api/call.ts";
import { ApiError, offlineError } from "../api/error.ts";
import type { OperationName } from "../api/operations.ts";
import {
  aborted,
  type BulkAct,
  type BulkRun,
  beginNext,
  isOver,
  newRun,
  type PlainAct,
  withAnswer,
  withRetry,
} from "./bulk.ts";
import { tagsToWrite } from "./tag-change.ts";

const operations = {
  wake: "servers.wake",
  stop: "servers.stop",
  restart: "servers.restart",
  backup: "backups.create",
} as const satisfies Record<PlainAct, OperationName>;

let now: BulkRun | undefined;
const listeners = new Set<() => void>();

export const readBulkRun = (): BulkRun | undefined => now;
export const isBulkRunning = (): boolean => now !== undefined && !isOver(now);
export function subscribeBulkRun(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(run: BulkRun | undefined): void {
  now = run;
  for (const listener of listeners) listener();
}

export function startBulkRun(act: BulkAct, names: readonly string[]): void {
  change(newRun(act, names));
  work();
}

export function retryBulkRun(): void {
  if (!now) return;
  change(withRetry(now));
  work();
}

export function abortBulkRun(): void {
  if (now) change(aborted(now));
}

/** Forgets a run that is over. */
export function closeBulkRun(): void {
  if (now && isOver(now)) change(undefined);
}

function work(): void {
  if (!now) return;
  const { run: next, begun } = beginNext(now);
  if (begun.length === 0) return;
  change(next);
  for (const name of begun) void run(next.act, name);
}

async function ask(act: BulkAct, name: string): Promise<void> {
  if (!("tag" in act)) {
    await call(operations[act.kind], { name });
    return;
  }
  const { kind, tag } = act;
  const status = await call("servers.viewStatus", { name });
  const tags = tagsToWrite(("tags" in status && status.tags) || [], { act: kind, tag });
  if (tags) await call("tags.write", { name, tags });
}

async function run(act: BulkAct, name: string): Promise<void> {
  const error = await ask(act, name).then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof ApiError ? thrown : offlineError()),
  );
  if (now) change(withAnswer(now, name, error));
  // Nobody is signed in any more: the others would fail alike.
  if (error?.status === 401) abortBulkRun();
  work();
}
