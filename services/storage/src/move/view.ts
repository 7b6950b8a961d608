import type { migrations } from "@svc/proto";
import type { BackupRow } from "../database/tables.ts";
import type { MoveRow } from "../database/world-migrations.ts";

/** The view for operators, without the owner of the world. */
export function toMoveView(row: MoveRow, backup?: BackupRow): migrations.WorldMigration {
  return {
    id: row.id,
    server: row.server_name,
    state: row.state,
    stage: row.stage,
    sourceNode: row.source_node,
    targetNode: row.target_node,
    sourcePVC: row.source_claim,
    targetPVC: row.target_claim,
    backup: {
      ref: backup?.backup_ref ?? "",
      size: backup?.size_bytes ?? 0,
      sha256: backup?.sha256 ?? "",
    },
    started: row.started_at.toISOString(),
    updated: row.updated_at.toISOString(),
    switched: row.switched,
    attempt: row.attempt,
    ...(row.error !== "" && { error: row.error }),
    ...(row.cancelled_at !== null && { cancelled: true as const }),
  };
}
