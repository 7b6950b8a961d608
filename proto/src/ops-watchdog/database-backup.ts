// What is known of database backups (docs/reference/database-backups.md#status). They are made by ops-watchdog and `svc db`.
// Vocabulary: bundle = the file of one database backup; rehearsal = restoring the newest one into a scratch database.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Timestamp } from "../text.ts";

/** Why a bundle was taken. */
export const BundleLabel = z.enum(["daily", "pre-migrate", "pre-restore", "offsite", "manual"]);
export type BundleLabel = z.output<typeof BundleLabel>;

/** A rehearsed restore. */
export const Rehearsal = z.strictObject({
  /** Name of the bundle. */
  bundle: z.string(),
  at: Timestamp,
  succeeded: z.boolean(),
  duration_seconds: z.number(),
  /** Rows that were restored, over all tables. */
  rows: z.number().int().min(0),
  /** Why it failed. */
  error: z.string().optional(),
});
export type Rehearsal = z.output<typeof Rehearsal>;

/** The newest undamaged bundle. */
const LastBundle = z.strictObject({
  at: Timestamp,
  name: z.string(),
  label: BundleLabel,
  size_bytes: z.number().int(),
  /** Version of svc that took it. */
  version: z.string().optional(),
  /** Migrations of all schemas together. */
  schema_version: z.number().int().optional(),
  dir: z.string().optional(),
  /** Why the bundle lacks the server objects. */
  servers_error: z.string().optional(),
  /** When the newest daily bundle was taken. */
  daily_at: Timestamp.optional(),
});

/** One bundle of the folder. */
export const Bundle = z.strictObject({
  name: z.string(),
  at: Timestamp,
  label: BundleLabel,
  size_bytes: z.number().int(),
  /** What is wrong with it, as its last verification found. */
  damage: z.string().optional(),
});
export type Bundle = z.output<typeof Bundle>;

/** Which points in time can be restored, from the archive of the write-ahead log (docs/reference/database-backups.md#point-in-time). */
const PointInTime = z.strictObject({
  /** Of the newest stretch without a gap; absent until it has a base backup. */
  covered_from: Timestamp.optional(),
  covered_until: Timestamp.optional(),
  /** When the newest base backup ended. */
  base_at: Timestamp.optional(),
  /** Why the present is not covered. */
  stale: z.string().optional(),
});

export const DatabaseBackupStatus = z.strictObject({
  last: LastBundle.nullable(),
  /** No daily bundle, or the newest is older than the limit; newer bundles of other labels do not count. */
  stale: z.boolean(),
  max_age_seconds: z.number().int(),
  /** The newest rehearsal. */
  rehearsal: Rehearsal.optional(),
  /** Only where the log is archived. */
  point_in_time: PointInTime.optional(),
  /** The newest 50, damaged ones included, newest first. */
  bundles: z.array(Bundle).optional(),
});
export type DatabaseBackupStatus = z.output<typeof DatabaseBackupStatus>;

export const readStatus = operation({
  subject: "ops-watchdog.database-backup.read-status",
  http: { method: "GET", path: "/api/v1/platform/db-backup", face: "external", tier: "admin" },
  output: DatabaseBackupStatus,
  summary: "The database backups, whether a daily one is overdue, and the newest rehearsal.",
  spec: "docs/reference/database-backups.md#status",
});
