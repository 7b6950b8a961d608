// Which data is read again when something changed (docs/reference/events.md#stream). Pure.

import type { changes } from "@svc/proto";
import type { OperationName } from "./operations.ts";

export type ChangeNotice = changes.ChangeNotice;

/** What a change of each type is seen in. */
const readers: Readonly<Record<ChangeNotice["type"], readonly OperationName[]>> = {
  server: ["servers.viewStatus", "ownership.listMine", "servers.fleet", "members.readMine", "members.list"],
  schedule: ["schedules.list"],
  job: ["backups.listJobs"],
  file: ["files.listOperations", "fileVersions.list"],
  move: ["migrations.readLatest"],
  drill: ["drills.list"],
  backup: ["backups.list"],
  crash: ["crashes.list"],
};

const covered: ReadonlySet<string> = new Set(Object.values(readers).flat());

/** Whether events tell of every change of an operation's data, so that it is not polled. */
export function isCovered(name: OperationName): boolean {
  return covered.has(name);
}

export type Effect = "own" | "list";
type Key = readonly unknown[];

/** How data of this key is concerned by a change: as that of the server, as a list of several, or not at all. */
export function effectOf({ type, server }: ChangeNotice, key: Key): Effect | "none" {
  if (!readers[type]?.includes(key[0] as OperationName)) return "none";
  const about = serverOf(key);
  if (about === undefined) return "list";
  return about === server ? "own" : "none";
}

/** The same when anything may have changed. */
export function effectOfAll(key: Key): Effect | "none" {
  if (!isCovered(key[0] as OperationName)) return "none";
  return serverOf(key) === undefined ? "list" : "own";
}

function serverOf([, input]: Key): unknown {
  const { name, server } = (input ?? {}) as { name?: unknown; server?: unknown };
  return name ?? server;
}

const rowMs = 3;

/** A list is read again at most this often: a long one costs more and says less about one server. */
export function listPauseMs(rows: number): number {
  return Math.min(15_000, Math.max(1_000, rows * rowMs));
}

const underWayMs = 250;

export type Reading = {
  effect: Effect;
  /** Rows of a list. */
  rows: number;
  /** When it was last read or asked for, in milliseconds as of `Date.now`; 0 for never. */
  lastAt: number;
  isUnderWay: boolean;
};

/**
 * Milliseconds until data that a change concerns is read again, 0 for at once. A reading under way may be older than the change
 * and is not cut short: while changes keep coming, none would ever end.
 */
export function untilReadMs({ effect, rows, lastAt, isUnderWay }: Reading, now: number): number {
  const restMs = effect === "own" ? 0 : Math.max(0, lastAt + listPauseMs(rows) - now);
  return isUnderWay ? Math.max(underWayMs, restMs) : restMs;
}
