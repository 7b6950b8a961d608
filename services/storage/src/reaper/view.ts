import type { backups, reapers } from "@svc/proto";
import type { RunRow } from "../database/reaper-runs.ts";
import { emptySummary, summaryLine } from "./summary.ts";

/** The view of a run for operators. */
export function toReaperRun(row: RunRow): reapers.ReaperRun {
  const summary = { ...emptySummary(), ...row.summary };
  return {
    id: row.id,
    state: row.state,
    retention_only: row.retention_only,
    started_by: row.started_by,
    started_at: row.started_at.toISOString(),
    ...(row.finished_at && { finished_at: row.finished_at.toISOString() }),
    line: summaryLine(summary),
    summary,
    notes: row.notes,
    ...(row.message !== "" && { message: row.message }),
  };
}

export type ReaperReason = Extract<backups.BackupReason, "inactive_15d" | "released">;
