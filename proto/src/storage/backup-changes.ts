// What two backups have otherwise (docs/reference/backups.md#changes). `backup.ts` holds the vocabulary.

import { z } from "zod";
import { operation, request } from "../contract.ts";
import { BackupId } from "./backup.ts";
import { ArchiveChanges, FileChange } from "./file-changes.ts";

/** A folder or a file; empty for all. */
const path = z.string().max(4_096).default("");

/** Files that differ between two backups. */
export const BackupChanges = ArchiveChanges.extend({
  id: z.string(),
  since: z.string(),
  path: z.string(),
  files: z.array(FileChange.extend({ size: z.number().int() })),
});
export type BackupChanges = z.output<typeof BackupChanges>;

export const listChanges = operation({
  subject: "storage.backup.list-changes",
  http: {
    method: "GET",
    path: "/api/v1/backups/{id}/changes",
    face: "external",
    tier: "app",
    rights: ["backups.download"],
    serversBy: "owner",
  },
  params: { id: BackupId },
  query: { since: BackupId, path },
  output: BackupChanges,
  faults: ["no_backup", "backup_corrupt", "bad_path", "path_not_shared"],
  deadlineMs: 90_000,
  summary: "Files that a backup has otherwise than another one: added, changed and removed.",
  spec: "docs/reference/backups.md#changes",
});

export const compareBackups = request({
  subject: "storage.backup.compare",
  input: { id: BackupId, since: BackupId, path },
  output: BackupChanges,
  faults: ["no_backup", "backup_corrupt", "bad_path"],
  callers: ["operator"],
  idempotent: true,
  deadlineMs: 90_000,
  maxInFlight: 4,
  summary: "Files that differ between two backups.",
  spec: "docs/reference/backups.md#changes",
});
