import type { backups, reapers } from "@svc/proto";
import type { ColumnType, Generated, Selectable } from "kysely";
import { emptySummary, type Summary, summaryLine } from "./summary.ts";

export type ReaperRunsTable = {
  id: string;
  state: Generated<"running" | "succeeded" | "failed">;
  retention_only: Generated<boolean>;
  started_by: string;
  attempt: Generated<number>;
  summary: ColumnType<Partial<Summary>, string | undefined, string>;
  notes: ColumnType<string[], string | undefined, string>;
  message: Generated<string>;
  started_at: ColumnType<Date, Date | undefined, never>;
  heartbeat_at: ColumnType<Date, Date | undefined, Date>;
  finished_at: ColumnType<Date | null, undefined, Date>;
};
export type RunRow = Selectable<ReaperRunsTable>;

/** What a run tells of itself. */
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
