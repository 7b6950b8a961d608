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

/** How data of this key is concerned by a change: as that of the server, as a list of several, or not at all. */
export function effectOf({ type, server }: ChangeNotice, key: readonly unknown[]): "own" | "list" | "none" {
  const [name, input] = key;
  if (!readers[type]?.includes(name as OperationName)) return "none";
  const { name: named, server: given } = (input ?? {}) as { name?: unknown; server?: unknown };
  const about = named ?? given;
  if (about === undefined) return "list";
  return about === server ? "own" : "none";
}

const rowMs = 3;

/** A list is read again at most this often: a long one costs more and says less about one server. */
export function listPauseMs(rows: number): number {
  return Math.min(15_000, Math.max(1_000, rows * rowMs));
}
