import type { StorageDeps } from "../deps.ts";
import type { ArchiveFolder } from "../volume/archive-folder.ts";
import type { ReaperMetrics } from "./metrics.ts";
import type { LiveWorlds } from "./store.ts";
import { emptySummary, type Summary, type SummaryKey } from "./summary.ts";

/** One run: its dependencies and its results. */
export type Run = {
  id: string;
  deps: StorageDeps;
  folder: ArchiveFolder;
  metrics: ReaperMetrics;
  /** Times before the reclaim at which owners are warned, in milliseconds. */
  warnBefore: readonly number[];
  live: LiveWorlds;
  summary: Summary;
  notes: string[];
  isSweepComplete: boolean;
  /** Aborts when the run must end: the process stops, or the run was declared dead. */
  signal: AbortSignal;
};

const maxNotes = 50;

export function newRun(about: Omit<Run, "summary" | "notes" | "isSweepComplete" | "live">): Run {
  return { ...about, summary: emptySummary(), notes: [], isSweepComplete: true, live: new Map() };
}

export function count(run: Run, key: SummaryKey, by = 1): void {
  run.summary[key] += by;
  run.metrics.counted(key, by);
}

/** Records something an operator should know; the log has all notes. */
export function addNote(run: Run, text: string): void {
  run.deps.log.warn({ run: run.id }, text);
  if (run.notes.length < maxNotes) run.notes.push(text.slice(0, 300));
}

/** Counts an event and notes its reason. */
export function countAndNote(run: Run, key: SummaryKey, text: string): void {
  count(run, key);
  addNote(run, text);
}
