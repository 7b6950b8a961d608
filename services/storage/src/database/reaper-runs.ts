import type { ColumnType, Generated, Selectable } from "kysely";

export type ReaperRunsTable = {
  id: string;
  state: Generated<"running" | "succeeded" | "failed">;
  retention_only: Generated<boolean>;
  started_by: string;
  attempt: Generated<number>;
  summary: ColumnType<Record<string, number>, string | undefined, string>;
  notes: ColumnType<string[], string | undefined, string>;
  message: Generated<string>;
  started_at: ColumnType<Date, Date | undefined, never>;
  heartbeat_at: ColumnType<Date, Date | undefined, Date>;
  finished_at: ColumnType<Date | null, undefined, Date>;
};
export type RunRow = Selectable<ReaperRunsTable>;
