// Tables of the schema `storage` as kysely sees them; a test compares them with the live schema.

import type { AuditEntry, backups, drills, origins } from "@svc/proto";
import type { Db, Trx } from "@svc/store";
import type { ColumnType, Generated, Selectable } from "kysely";
import type { ArchiveTicketsTable } from "./archive-tickets.ts";
import type { OffsiteConfirmationsTable } from "./offsite-confirmations.ts";
import type { ReaperRunsTable } from "./reaper-runs.ts";
import type { WorldMigrationsTable } from "./world-migrations.ts";

type DefaultAt = ColumnType<Date, Date | undefined, Date>;
type MaybeAt = ColumnType<Date | null, Date | null | undefined, Date | null>;
type MaybeText = ColumnType<string | null, string | null | undefined, string | null>;

export type WorldBackupsTable = {
  id: string;
  server_name: string;
  former_owner: MaybeText;
  /** Absolute path of the archive. */
  backup_ref: string;
  size_bytes: number;
  reason: backups.BackupReason;
  status: Generated<"present" | "expired" | "deleted">;
  created_at: DefaultAt;
  expires_at: Date;
  deleted_at: MaybeAt;
  offsite_at: MaybeAt;
  sha256: string;
  verified_at: MaybeAt;
  corrupt_at: MaybeAt;
  skipped_entries: Generated<number>;
  unreadable_entries: Generated<number>;
  label: Generated<string>;
  pinned_at: MaybeAt;
  /** The pin is the owner's own. */
  pinned_by_owner: Generated<boolean>;
  job: MaybeText;
  /** Size of the world then. */
  world_bytes: ColumnType<number | null, number | null | undefined, never>;
};
export type BackupRow = Selectable<WorldBackupsTable>;

type JobKind = backups.WorldJob["kind"];
type JobState = "starting" | "running" | "succeeded" | "failed";
export type ThenRestoreReason = NonNullable<backups.WorldJob["then_restore_reason"]>;

export type WorldJobsTable = {
  job: string;
  server_name: string;
  kind: JobKind;
  state: Generated<JobState>;
  message: Generated<string>;
  code: Generated<backups.WorldJobCode | "">;
  owner_id: MaybeText;
  started_by: string;
  reason: ColumnType<backups.BackupReason | null, backups.BackupReason | null | undefined, never>;
  archive: MaybeText;
  run_key: MaybeText;
  backup_id: MaybeText;
  then_restore: ColumnType<
    "pending" | "started" | "abandoned" | null,
    "pending" | undefined,
    "started" | "abandoned"
  >;
  then_restore_reason: ColumnType<ThenRestoreReason | null, undefined, ThenRestoreReason>;
  only_paths: ColumnType<string[] | null, string | null | undefined, never>;
  recovery: MaybeText;
  audit: MaybeText;
  started_at: DefaultAt;
  finished_at: MaybeAt;
};
export type JobRow = Selectable<WorldJobsTable>;

type FileChangesTable = {
  job: string;
  server_name: string;
  entry: ColumnType<AuditEntry, string, never>;
  op: MaybeText;
  started_at: DefaultAt;
};
export type FileChangeRow = Selectable<FileChangesTable>;

type FileVersionsTable = {
  id: string;
  server_name: string;
  path: string;
  content: Buffer;
  sha256: string;
  size_bytes: number;
  /** Account. */
  replaced_by: string;
  replaced_at: Date;
};
export type FileVersionRow = Selectable<FileVersionsTable>;

type DrillsTable = {
  id: string;
  server_name: string;
  backup_id: string;
  state: Generated<drills.Drill["state"]>;
  message: MaybeText;
  code: ColumnType<drills.DrillCode | null, undefined, drills.DrillCode>;
  version: MaybeText;
  boot_seconds: ColumnType<number | null, undefined, number>;
  started_at: ColumnType<Date, Date, never>;
  finished_at: MaybeAt;
};
export type DrillRow = Selectable<DrillsTable>;

type OriginsTable = {
  id: string;
  /** The clone. */
  server_name: string;
  source_name: string;
  backup_id: MaybeText;
  /** Value of the lock annotation that keeps the clone from starting. */
  lock: string;
  /** The Job of this attempt that restores the world; its name is known before it is made. */
  job: string;
  attempt: Generated<number>;
  attempt_at: Date;
  state: origins.OriginState;
  message: MaybeText;
  code: ColumnType<origins.OriginCode | null, undefined, origins.OriginCode | null>;
  started_by: string;
  started_at: ColumnType<Date, Date, never>;
  finished_at: MaybeAt;
};
export type OriginRow = Selectable<OriginsTable>;

export type Tables = {
  origins: OriginsTable;
  world_backups: WorldBackupsTable;
  world_jobs: WorldJobsTable;
  reaper_runs: ReaperRunsTable;
  world_migrations: WorldMigrationsTable;
  archive_tickets: ArchiveTicketsTable;
  file_changes: FileChangesTable;
  file_versions: FileVersionsTable;
  drills: DrillsTable;
  offsite_confirmations: OffsiteConfirmationsTable;
};
export type StorageDb = Db<Tables>;
export type StorageTrx = Trx<Tables>;
