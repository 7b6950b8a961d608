import { basename } from "node:path";
import type { backupKeeping, backups } from "@svc/proto";
import type { BackupRow } from "../database/tables.ts";

/** The only mapping from a row to the public view. */
export function toBackupView(row: BackupRow): backups.BackupView {
  return {
    id: row.id,
    server_name: row.server_name,
    ...(row.former_owner !== null && { former_owner: row.former_owner }),
    size_bytes: row.size_bytes,
    reason: row.reason,
    status: row.status === "present" ? "present" : "expired",
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    ...(row.corrupt_at && { corrupt: true }),
    ...(row.verified_at && { verified_at: row.verified_at.toISOString() }),
    ...(row.skipped_entries > 0 && { skipped_entries: row.skipped_entries }),
    ...(row.label !== "" && { label: row.label }),
    ...(row.pinned_at && { pinned_by: row.pinned_by_owner ? ("owner" as const) : ("staff" as const) }),
  };
}

/** File name of a backup's archive, as world Jobs know it. */
export function archiveNameOf(row: Pick<BackupRow, "backup_ref">): string {
  return basename(row.backup_ref);
}

/** The view for operators. */
export function toKeptBackup(row: BackupRow): backupKeeping.KeptBackup {
  return { ...toBackupView(row), label: row.label, pinned: row.pinned_at !== null };
}
