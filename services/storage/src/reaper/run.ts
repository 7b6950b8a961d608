import type { StorageDeps } from "../deps.ts";
import type { ArchiveFolder } from "../volume/archive-folder.ts";
import type { ReaperMetrics } from "./metrics.ts";
import type { LiveWorlds } from "./store.ts";
import { emptySummary, type Summary, type SummaryKey } from "./summary.ts";

/** One run: what it works with and what it has to tell. */
export type Run = {
  id: string;
  deps: StorageDeps;
  folder: ArchiveFolder;
  metrics: ReaperMetrics;
  /** Windows before a world goes, in milliseconds. */
  warnBefore: readonly number[];
  live: LiveWorlds;
  summary: Summary;
  notes: string[];
  isSweepComplete: boolean;
  /** Aborts when the run must end: the process stops, or it was declared dead. */
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

/** Something a person should know of; the log has all of it. */
export function addNote(run: Run, text: string): void {
  run.deps.log.warn({ run: run.id }, text);
  if (run.notes.length < maxNotes) run.notes.push(text.slice(0, 300));
}

/** Counts it and says why, so that the number can be understood. */
export function countAndNote(run: Run, key: SummaryKey, text: string): void {
  count(run, key);
  addNote(run, text);
}
