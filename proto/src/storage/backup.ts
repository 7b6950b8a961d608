// Backups of worlds (docs/reference/backups.md#create, docs/reference/backups.md#kinds).
// Vocabulary: archive = the file; backup = its row; run = one attempt to make one; pin = a backup that stays until it
// is unpinned, whatever its age; drill = a restore into a scratch volume and a boot of the server there.

import { z } from "zod";
import { event, operation, request } from "../contract.ts";
import { WorldSize } from "../lifecycle/history.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { paging, Timestamp } from "../text.ts";
import { Sha256, TaskFaultCode } from "./world-task.ts";

const name = { name: ServerNameParam };
/** Identity of a backup, as callers write it. */
export const BackupId = z.string().min(1).max(64);

/** What may be written on a backup. */
export const BackupLabel = z
  .string()
  .max(128)
  .regex(/^[^\p{Cc}]*$/u, "must be one line");
/** Files and folders to put back over the world as it is. */
export const RestoredPaths = z.array(z.string().min(1).max(4_096)).min(1).max(100);

/** Why a backup was made (docs/reference/backups.md#kinds). */
export const BackupReason = z.enum(["inactive_15d", "released", "manual", "pre_restore", "scheduled"]);
export type BackupReason = z.output<typeof BackupReason>;

/** A backup as its owner sees it (docs/reference/backups.md#kinds); where the archive lies is withheld. */
export const BackupView = z.strictObject({
  id: z.string(),
  server_name: z.string(),
  /** Only when the world had an owner then. */
  former_owner: z.string().optional(),
  size_bytes: z.number().int(),
  reason: BackupReason,
  status: z.enum(["present", "expired"]),
  created_at: Timestamp,
  expires_at: Timestamp,
  /** Failed its read-back; it cannot be restored. */
  corrupt: z.boolean().optional(),
  verified_at: Timestamp.optional(),
  skipped_entries: z.number().int().optional(),
  /** What somebody wrote on it; absent when nothing. */
  label: z.string().optional(),
  /** Who pinned it; absent when it is not pinned. */
  pinned_by: z.enum(["owner", "staff"]).optional(),
});
export type BackupView = z.output<typeof BackupView>;

/** What keeps a world from being worked on. */
export const busy = [
  "not_stopped",
  "maintenance_in_progress",
  "world_reclaiming",
  "no_world_volume",
] as const;

/** What the message of a Job says: a refusal of its task, `job_failed` without one, `entries_left_out` of a success. */
export const WorldJobCode = z.enum([...TaskFaultCode.options, "job_failed", "entries_left_out"]);
export type WorldJobCode = z.output<typeof WorldJobCode>;

/** Who started it, as far as the reader may know. `svc`: by itself. */
const StartedBy = z.enum(["you", "other", "svc"]);

/** One Job on a world (docs/reference/world-lock.md#outcome). */
export const WorldJob = z.strictObject({
  name: z.string(),
  kind: z.enum(["backup", "restore", "export_world", "export_backup", "export_files"]),
  state: z.enum(["running", "succeeded", "failed"]),
  message: z.string().optional(),
  /** Beside every message of the last release or later. */
  code: WorldJobCode.optional(),
  started_at: Timestamp.optional(),
  finished_at: Timestamp.optional(),
  /** Only on the safety snapshot of a restore. */
  then_restore: z.enum(["pending", "started", "abandoned"]).optional(),
  then_restore_reason: z
    .enum(["snapshot_failed", "not_configured", "server_gone", "server_started", "restore_busy"])
    .optional(),
  restore_backup_id: z.string().optional(),
  /** True for a restore point that the service made by itself. */
  scheduled: z.boolean().optional(),
  by: StartedBy.optional(),
});
export type WorldJob = z.output<typeof WorldJob>;

const backingUp = z.strictObject({ name: z.string(), status: z.literal("backing_up") });

export const create = operation({
  subject: "storage.backup.create",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/backup",
    face: "external",
    tier: "app",
    status: 202,
    rights: ["backups.make"],
  },
  params: name,
  output: backingUp,
  faults: ["bad_name", "not_found", ...busy, "backup_cooldown", "backup_store_full"],
  deadlineMs: 20_000,
  summary: "Backs up the world of a stopped server.",
  spec: "docs/reference/backups.md#create",
});

export const createEmergency = operation({
  subject: "storage.backup.create-emergency",
  http: {
    method: "POST",
    path: "/api/v1/internal/servers/{name}/backup",
    face: "internal",
    tier: "service",
    callers: ["ops"],
    status: 202,
  },
  params: name,
  body: { os_user: z.string().max(64).optional() },
  bodyOptional: true,
  output: backingUp,
  faults: ["bad_name", "not_found", ...busy],
  deadlineMs: 20_000,
  summary: "Backs up a stopped server's world for its host operator, without cooldown and size cap.",
  spec: "docs/reference/backups.md#create",
});

export const list = operation({
  subject: "storage.backup.list",
  http: {
    method: "GET",
    path: "/api/v1/backups",
    face: "external",
    tier: "app",
    rights: ["see"],
    serversBy: "owner",
  },
  query: { server: z.string().max(63).optional(), ...paging },
  output: z.strictObject({ backups: z.array(BackupView), total: z.number().int() }),
  summary: "Present backups, newest first: all for staff, else those of worlds that the caller owned.",
  spec: "docs/reference/backups.md#list",
});

export const expire = operation({
  subject: "storage.backup.expire",
  http: {
    method: "DELETE",
    path: "/api/v1/backups/{id}",
    face: "external",
    tier: "app",
    rights: ["backups.delete"],
    serversBy: "owner",
  },
  params: { id: BackupId },
  output: z.strictObject({ id: z.string(), status: z.literal("expired") }),
  faults: ["no_backup", "restore_in_progress", "backup_pinned"],
  onceById: true,
  summary:
    "Deletes a backup now; the next daily run removes its archive. Only staff can delete a pinned one.",
  spec: "docs/reference/backups.md#expire",
});

export const edit = operation({
  subject: "storage.backup.edit",
  http: {
    method: "PATCH",
    path: "/api/v1/backups/{id}",
    face: "external",
    tier: "app",
    rights: ["backups.make"],
    serversBy: "owner",
  },
  params: { id: BackupId },
  body: { label: BackupLabel.optional(), pinned: z.boolean().optional() },
  output: BackupView,
  faults: ["no_backup", "backup_pinned", "pin_limit"],
  onceById: true,
  summary: "Labels a backup, or pins it so that it neither expires nor is pruned.",
  spec: "docs/reference/backups.md#pin",
});

const ArchiveEntry = z.strictObject({
  name: z.string(),
  size: z.number().int(),
  is_dir: z.boolean(),
  mod_time: Timestamp,
  /** Of a file's content; absent in a backup of an earlier release, in a `.tar.gz` and of a file with holes. */
  sha256: Sha256.optional(),
});
/** One folder of what a backup holds. */
export const BackupFolder = z.strictObject({
  path: z.string(),
  entries: z.array(ArchiveEntry),
  /** True when the folder holds more entries than are listed. */
  truncated: z.boolean(),
});
export type BackupFolder = z.output<typeof BackupFolder>;

export const listFiles = operation({
  subject: "storage.backup.list-files",
  http: {
    method: "GET",
    path: "/api/v1/backups/{id}/files",
    face: "external",
    tier: "app",
    rights: ["backups.download"],
    serversBy: "owner",
  },
  params: { id: BackupId },
  query: { path: z.string().max(4_096).default("") },
  output: BackupFolder,
  faults: ["no_backup", "backup_corrupt", "bad_path", "path_not_shared", "not_found"],
  deadlineMs: 90_000,
  summary: "One folder of what a backup holds.",
  spec: "docs/reference/backups.md#browse",
});

export const restore = operation({
  subject: "storage.backup.restore",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/restore-backup",
    face: "external",
    tier: "app",
    status: 202,
    rights: ["backups.restore"],
  },
  params: name,
  body: {
    backup_id: BackupId.optional(),
    safety_snapshot: z.boolean().default(true),
    /** Absent: the whole world. */
    only: RestoredPaths.optional(),
  },
  bodyOptional: true,
  output: z.strictObject({
    name: z.string(),
    status: z.literal("restoring"),
    backup_id: z.string(),
    safety_snapshot: z.boolean(),
  }),
  faults: [
    "bad_name",
    "not_found",
    "no_backup",
    "bad_path",
    "path_not_shared",
    ...busy,
    "restore_in_progress",
    "backup_corrupt",
  ],
  deadlineMs: 20_000,
  summary: "Restores a backup, or some files of it, into a stopped server's world, after a snapshot.",
  spec: "docs/reference/restore.md#chain",
});

export const listJobs = operation({
  subject: "storage.job.list",
  http: {
    method: "GET",
    path: "/api/v1/servers/{name}/jobs",
    face: "external",
    tier: "app",
    rights: ["see"],
  },
  params: name,
  output: z.strictObject({ server: z.string(), jobs: z.array(WorldJob) }),
  faults: ["bad_name", "not_found"],
  summary: "World Jobs of a server, running and finished, newest first.",
  spec: "docs/reference/world-lock.md#outcome",
});

export const startScheduledBackup = request({
  subject: "storage.backup.start-scheduled",
  input: {
    name: ServerNameParam,
    /** Names the run of the schedule: a repeat answers the job that the first call started. */
    run_key: z.string().min(1).max(64),
    created_by: z.string().max(128),
  },
  output: z.strictObject({ job: z.string() }),
  faults: [
    "not_found",
    "not_stopped",
    "maintenance_in_progress",
    "world_reclaiming",
    "no_world_volume",
    "backup_store_full",
    "restore_in_progress",
  ],
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 20_000,
  summary: "Starts the backup of a scheduled task on a stopped server.",
  spec: "docs/reference/schedules.md#run",
});

export const readBackupRun = request({
  subject: "storage.backup.read-run",
  input: { job: z.string().min(1).max(128) },
  output: z.strictObject({
    state: z.enum(["running", "succeeded", "failed"]),
    message: z.string().optional(),
  }),
  faults: ["not_found"],
  callers: ["lifecycle", "operator"],
  idempotent: true,
  summary: "State of a backup that was started.",
  spec: "docs/reference/schedules.md#run",
});

/** A world that is backed up more often has its newest ones listed. */
export const maxWorldSizes = 500;

export const listWorldSizes = request({
  subject: "storage.backup.list-world-sizes",
  input: { server: z.string().min(1).max(64), since: Timestamp },
  output: z.strictObject({ sizes: z.array(WorldSize).max(maxWorldSizes) }),
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 2_000,
  summary: "How large a world was at each of its backups.",
  spec: "docs/reference/history.md#server",
});

const about = { id: z.string(), server_name: z.string(), at: z.iso.datetime() };
const sample = {
  id: "bk-00000000000000000000000000000000",
  server_name: "survival",
  at: "2026-01-01T00:00:00.000Z",
};

export const backupMade = event({
  subject: "storage.backup.made",
  data: z.object({ ...about, reason: z.string(), size_bytes: z.number(), job: z.string() }),
  key: (data) => data.server_name,
  sample: { ...sample, reason: "manual", size_bytes: 1, job: "backup-survival-0a1b2c3d" },
  summary: "A world was archived: its archive is verified and its row is written.",
});

export const backupFailed = event({
  subject: "storage.backup.failed",
  data: z.object({ server_name: z.string(), job: z.string(), message: z.string(), at: z.iso.datetime() }),
  key: (data) => data.server_name,
  sample: {
    server_name: "survival",
    job: "backup-survival-0a1b2c3d",
    message: "no space",
    at: "2026-01-01T00:00:00.000Z",
  },
  summary: "A backup failed.",
});

export const backupExpired = event({
  subject: "storage.backup.expired",
  data: z.object({ ...about, why: z.enum(["deleted", "pruned"]) }),
  key: (data) => data.server_name,
  sample: { ...sample, why: "pruned" },
  summary: "A backup was deleted; the next daily run removes its archive.",
});

export const backupCondemned = event({
  subject: "storage.backup.condemned",
  data: z.object({ ...about, message: z.string() }),
  key: (data) => data.server_name,
  sample: { ...sample, message: "the digest differs" },
  summary: "A backup failed verification and is never restored.",
});

export const worldRestored = event({
  subject: "storage.world.restored",
  data: z.object({ server_name: z.string(), backup_id: z.string(), job: z.string(), at: z.iso.datetime() }),
  key: (data) => data.server_name,
  sample: {
    server_name: "survival",
    backup_id: sample.id,
    job: "restore-survival-0a1b2c3d",
    at: "2026-01-01T00:00:00.000Z",
  },
  summary: "A world was restored from a backup.",
});

export const restoreFailed = event({
  subject: "storage.restore.failed",
  data: z.object({
    server_name: z.string(),
    backup_id: z.string(),
    job: z.string(),
    message: z.string(),
    at: z.iso.datetime(),
  }),
  key: (data) => data.server_name,
  sample: {
    server_name: "survival",
    backup_id: sample.id,
    job: "restore-survival-0a1b2c3d",
    message: "no space",
    at: "2026-01-01T00:00:00.000Z",
  },
  summary: "A restore failed, or its Job died without a result: the world is either the old or the new one.",
});
