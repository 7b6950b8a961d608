// What a restore would change (docs/reference/restore.md#plan). `backup.ts` holds the vocabulary.

import { z } from "zod";
import { operation, request } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { Timestamp } from "../text.ts";
import { BackupId, RestoredPaths } from "./backup.ts";
import { RestoreChange, RestoreChanges } from "./file-changes.ts";

const bytes = z.number().int();

/** The world as it is now against a backup: files that a restore would add, change and remove. */
export const RestorePlan = RestoreChanges.extend({
  name: z.string(),
  backup_id: z.string(),
  /** When the backup was made. */
  backup_at: Timestamp,
  added_bytes: bytes,
  changed_bytes: bytes,
  removed_bytes: bytes,
  files: z.array(RestoreChange.extend({ size: bytes, was: bytes.optional() })),
});
export type RestorePlan = z.output<typeof RestorePlan>;

const faults = [
  ...(["not_found", "no_backup", "backup_corrupt", "bad_path"] as const),
  ...(["not_stopped", "no_world_volume"] as const),
] as const;

export const plan = operation({
  subject: "storage.backup.plan-restore",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/restore-plan",
    face: "external",
    tier: "app",
    rights: ["backups.restore", "backups.download", "files.read"],
  },
  params: { name: ServerNameParam },
  body: {
    backup_id: BackupId.optional(),
    /** As in the restore; absent: the whole world. */
    only: RestoredPaths.optional(),
  },
  bodyOptional: true,
  output: RestorePlan,
  faults: ["bad_name", "path_not_shared", ...faults],
  idempotent: true,
  deadlineMs: 90_000,
  summary: "Files that a restore of a backup would add, change and remove in a stopped server's world.",
  spec: "docs/reference/restore.md#plan",
});

export const planByOperator = request({
  subject: "storage.backup.plan-restore-by-operator",
  input: { id: BackupId, only: RestoredPaths.optional() },
  output: RestorePlan,
  faults,
  callers: ["operator"],
  idempotent: true,
  deadlineMs: 90_000,
  maxInFlight: 4,
  summary: "As storage.backup.plan-restore, of any backup.",
  spec: "docs/reference/restore.md#plan",
});
