// Rows of the table: a figure, its anchor, the ratio and the verdict.

import { median } from "./statistics.ts";

/** `goal` and `stretch` bound the ratio to the anchor or to the peer, or our own figure. */
export type Limit = {
  bound: "at most" | "at least";
  of: "ratio" | "figure" | "peer";
  goal: number;
  stretch?: number;
};

export type Row = {
  goal: string;
  what: string;
  unit: string;
  ours: number;
  anchor?: number;
  /** Name of the anchor, for the reader. */
  anchorName?: string;
  /** The ratio in each round, where both move so much that only pairs can be compared; the row's ratio is their median. */
  ratios?: readonly number[];
  /** The peer's recorded figure for the same work, in the same unit; such rows also stand in the table against it. */
  peer?: number;
  /** Absent = told for information only. */
  limit?: Limit;
  note?: string;
  /** Cores that other processes used meanwhile; above 0.5 the row is void. */
  outsiders?: number;
};

type Verdict = "stretch" | "ok" | "near" | "miss" | "void" | "few" | "info";

const outsidersAtMost = 0.5;
const tolerance = 1.1;
const pairsAtLeast = 10;

function holds(value: number, bound: Limit["bound"], limit: number): boolean {
  return bound === "at most" ? value <= limit : value >= limit;
}

function ratioOf(row: Row): number | undefined {
  if (row.ratios) return median(row.ratios);
  return row.anchor === undefined || row.anchor === 0 ? undefined : row.ours / row.anchor;
}

function boundValue(row: Row, { of }: Limit): number {
  if (of === "ratio") return ratioOf(row) ?? Number.NaN;
  return of === "peer" ? row.ours / (row.peer ?? Number.NaN) : row.ours;
}

/** `near` misses by at most 10 %, which docs/performance.md does not count; `few` has too few pairs to be judged. */
export function verdictOf(row: Row): Verdict {
  const { limit } = row;
  if (!limit) return "info";
  // What a process holds or asks for does not depend on who else computes.
  if ((row.outsiders ?? 0) > outsidersAtMost && !["MB", "requests"].includes(row.unit)) return "void";
  if (limit.of === "ratio" && row.ratios && row.ratios.length < pairsAtLeast) return "few";
  const value = boundValue(row, limit);
  if (limit.stretch !== undefined && holds(value, limit.bound, limit.stretch)) return "stretch";
  if (holds(value, limit.bound, limit.goal)) return "ok";
  const loose = limit.bound === "at most" ? limit.goal * tolerance : limit.goal / tolerance;
  return holds(value, limit.bound, loose) ? "near" : "miss";
}

/** A figure with about three digits. */
export function figure(value: number | undefined): string {
  if (value === undefined) return "";
  if (!Number.isFinite(value)) return "?";
  if (value >= 1_000) return Math.round(value).toLocaleString("en").replaceAll(",", " ");
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function limitText({ limit, unit }: Row, pick: "goal" | "stretch"): string {
  const value = limit?.[pick];
  if (!limit || value === undefined) return "";
  const sign = limit.bound === "at most" ? "<=" : ">=";
  if (limit.of === "figure") return `${sign} ${figure(value)} ${unit}`;
  return `${sign} ${value}x${limit.of === "peer" ? " of the peer" : ""}`;
}

const columns = ["goal", "what", "ours", "anchor", "ratio", "goal is", "stretch", "result", "note"] as const;

function spreadOf({ ratios = [] }: Row): string {
  if (ratios.length === 0) return "";
  return `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} in ${ratios.length} pairs`;
}

function cells(row: Row): string[] {
  const ratio = ratioOf(row);
  const anchor =
    row.anchor === undefined ? "" : `${figure(row.anchor)} ${row.unit} (${row.anchorName ?? "bare"})`;
  const outsiders =
    (row.outsiders ?? 0) > outsidersAtMost ? `outsiders used ${figure(row.outsiders)} core` : "";
  return [
    row.goal,
    row.what,
    `${figure(row.ours)} ${row.unit}`,
    anchor,
    ratio === undefined ? "" : `${ratio.toFixed(2)}x`,
    limitText(row, "goal"),
    limitText(row, "stretch"),
    verdictOf(row),
    [row.note, spreadOf(row), outsiders].filter(Boolean).join("; "),
  ];
}

/** One line of a row, for the console. */
export function line(row: Row): string {
  const [goal = "", what = "", ours = "", anchor = "", ratio = "", limit = "", , verdict = "", note = ""] =
    cells(row);
  const parts = [ours, anchor && `vs ${anchor}`, ratio, limit && `goal ${limit}`].filter(Boolean);
  return `${verdict.toUpperCase().padEnd(8)}${goal.padEnd(7)} ${what}: ${parts.join(", ")}${note ? ` (${note})` : ""}`;
}

const escaped = (cell: string) => cell.replaceAll("|", "\\|");

export function markdownTable(columns: readonly string[], lines: readonly (readonly string[])[]): string {
  const body = lines.map((line) => `| ${line.map(escaped).join(" | ")} |`);
  return [`| ${columns.join(" | ")} |`, `|${columns.map(() => "---|").join("")}`, ...body].join("\n");
}

export function table(rows: readonly Row[]): string {
  return markdownTable(columns, rows.map(cells));
}
