import type { migrations } from "@svc/proto";
import type { ColumnType, Generated, Selectable } from "kysely";
import type { BackupRow } from "../database/tables.ts";

type MaybeText = ColumnType<string | null, string | null | undefined, string | null>;
type At = ColumnType<Date, Date | undefined, Date>;

export type MigrationsTable = {
  id: string;
  server_name: string;
  state: migrations.MigrationState;
  stage: migrations.MigrationState;
  source_node: string;
  target_node: string;
  source_claim: string;
  source_claim_uid: string;
  target_claim: string;
  lock: string;
  locked_at: ColumnType<Date | null, undefined, Date | null>;
  owner_id: MaybeText;
  started_by: string;
  backup_id: ColumnType<string | null, undefined, string>;
  switched: Generated<boolean>;
  attempt: Generated<number>;
  error: Generated<string>;
  abandoned: Generated<boolean>;
  cancelled_at: ColumnType<Date | null, undefined, Date>;
  cancelled_by: ColumnType<string | null, undefined, string>;
  started_at: At;
  updated_at: At;
};
export type MigrationRow = Selectable<MigrationsTable>;

/** What operators see; who owns the world is not part of it. */
export function toWorldMigration(row: MigrationRow, backup?: BackupRow): migrations.WorldMigration {
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
  };
}
