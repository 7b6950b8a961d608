import { basename } from "node:path";
import type { backupKeeping, backups, Principal } from "@svc/proto";
import { scopeOf } from "../access.ts";
import type { BackupRow } from "../database/tables.ts";

const service: Principal = { kind: "service", service: "storage" };

/** The only mapping from a row to the public view. Members, who have access by their owner, don't learn the owner's account. */
export function toBackupView(row: BackupRow, reader: Principal): backups.BackupView {
  const scope = scopeOf(reader);
  const { former_owner } = row;
  const isTold = scope.kind === "all" || (scope.kind === "owner" && scope.userId === former_owner);
  return {
    id: row.id,
    server_name: row.server_name,
    ...(former_owner !== null && isTold && { former_owner }),
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
  return { ...toBackupView(row, service), label: row.label, pinned: row.pinned_at !== null };
}
