// One act on many servers (docs/reference/panel.md#bulk): what is next, and how each server answered. Pure.

import type { ServerTag } from "@svc/proto";
import type { ApiError } from "../api/error.ts";

export const plainActs = ["wake", "stop", "restart", "backup"] as const;
export type PlainAct = (typeof plainActs)[number];
export const tagActs = ["tag", "untag"] as const;
export type TagAct = (typeof tagActs)[number];
/** What is done to each server; its tags are changed by one tag. */
export type BulkAct = { kind: PlainAct } | { kind: TagAct; tag: ServerTag };

export type BulkRow = {
  name: string;
  state: "waiting" | "running" | "done" | "failed" | "skipped";
  /** Why it failed. */
  error?: ApiError;
};

export type BulkRun = {
  act: BulkAct;
  rows: readonly BulkRow[];
  /** What had not begun is left out. */
  isAborted: boolean;
};

/** Requests under way at once: a fleet must not be started faster than its nodes can take it. */
export const atOnce = 4;

export function newRun(act: BulkAct, names: readonly string[]): BulkRun {
  const rows = [...new Set(names)].map((name): BulkRow => ({ name, state: "waiting" }));
  return { act, rows, isAborted: false };
}

export function countsOf({ rows }: BulkRun): Record<BulkRow["state"], number> {
  const counts = { waiting: 0, running: 0, done: 0, failed: 0, skipped: 0 };
  for (const { state } of rows) counts[state] += 1;
  return counts;
}

/** Begins the next rows, as many as may run at once. */
export function beginNext(run: BulkRun): { run: BulkRun; begun: string[] } {
  const free = atOnce - countsOf(run).running;
  const begun = run.rows
    .filter(({ state }) => state === "waiting")
    .slice(0, Math.max(0, free))
    .map(({ name }) => name);
  if (begun.length === 0) return { run, begun };
  const isBegun = new Set(begun);
  return {
    run: withRows(run, (row) => (isBegun.has(row.name) ? { name: row.name, state: "running" } : row)),
    begun,
  };
}

/** Notes the answer of one server. */
export function withAnswer(run: BulkRun, name: string, error?: ApiError): BulkRun {
  const answered: BulkRow = error ? { name, state: "failed", error } : { name, state: "done" };
  return withRows(run, (row) => (row.name === name && row.state === "running" ? answered : row));
}

/** Leaves out what has not begun; what runs is answered still. */
export function aborted(run: BulkRun): BulkRun {
  const left = withRows(run, (row) => (row.state === "waiting" ? { ...row, state: "skipped" } : row));
  return { ...left, isAborted: true };
}

/** What failed waits again, and what was left out. */
export function withRetry(run: BulkRun): BulkRun {
  const again = withRows(run, (row) =>
    row.state === "failed" || row.state === "skipped" ? { name: row.name, state: "waiting" } : row,
  );
  return { ...again, isAborted: false };
}

export function isOver(run: BulkRun): boolean {
  const { waiting, running } = countsOf(run);
  return waiting + running === 0;
}

const order: readonly BulkRow["state"][] = ["failed", "running", "skipped", "waiting", "done"];

/** What needs a person first. */
export function inOrder({ rows }: BulkRun): BulkRow[] {
  return rows.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
}

function withRows(run: BulkRun, change: (row: BulkRow) => BulkRow): BulkRun {
  return { ...run, rows: run.rows.map(change) };
}
