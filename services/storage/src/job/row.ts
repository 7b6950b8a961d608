import type { backups, Principal } from "@svc/proto";
import type { JobRow } from "../database/tables.ts";

/** The only mapping from a row to the public view (docs/reference/world-lock.md#outcome). */
export function toWorldJob(row: JobRow, reader?: Principal): backups.WorldJob {
  const { then_restore, then_restore_reason } = row;
  return {
    name: row.job,
    kind: row.kind,
    state: row.state === "starting" ? "running" : row.state,
    ...((row.state === "failed" || (row.state === "succeeded" && row.message !== "")) && {
      message: row.message,
      ...(row.code !== "" && { code: row.code }),
    }),
    started_at: row.started_at.toISOString(),
    ...(row.finished_at && { finished_at: row.finished_at.toISOString() }),
    ...(then_restore && { then_restore }),
    ...(then_restore_reason && { then_restore_reason }),
    ...(row.backup_id !== null &&
      (row.kind === "restore" || then_restore) && { restore_backup_id: row.backup_id }),
    ...(row.reason === "scheduled" && { scheduled: true }),
    ...(reader?.kind === "account" && { by: starterOf(row, reader.username) }),
  };
}

function starterOf({ reason, started_by }: JobRow, reader: string): NonNullable<backups.WorldJob["by"]> {
  if (started_by === reader) return "you";
  return reason === "scheduled" ? "svc" : "other";
}
