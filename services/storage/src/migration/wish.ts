// The two Jobs of a move. Pure.

import { archiveNameOf } from "../backup/row.ts";
import type { Settings } from "../config.ts";
import type { BackupRow } from "../database.ts";
import type { JobWish } from "../job/spec.ts";
import type { MigrationRow } from "./row.ts";

export function jobOf({ id, attempt }: MigrationRow, step: "backup" | "restore"): string {
  return `migration-${id.slice(0, 16)}-${attempt}-${step}`;
}

/** The same name however often it is asked for in one attempt, another one in the next. */
export function carrierName(row: MigrationRow, compression: "zstd" | "gzip"): string {
  const nanos = BigInt(row.started_at.getTime()) * 1_000_000n + BigInt(row.attempt);
  return `${row.server_name}-${nanos}.tar.${compression === "zstd" ? "zst" : "gz"}`;
}

export function backupWish(row: MigrationRow, { storage, archive }: Settings): JobWish {
  return {
    name: jobOf(row, "backup"),
    server: row.server_name,
    manager: "svc-backup",
    task: {
      mode: "backup",
      to: { kind: "archive", name: carrierName(row, archive.compression) },
      keep_free: storage.keep_free,
    },
    deadlineMs: storage.move_deadline,
    world: { claim: row.source_claim, mode: "ro" },
    archive: "rw",
    node: row.source_node,
  };
}

/** Every file is compared with the archive before the tree takes its place. */
export function restoreWish(row: MigrationRow, backup: BackupRow, { storage }: Settings): JobWish {
  return {
    name: jobOf(row, "restore"),
    server: row.server_name,
    manager: "svc-restore",
    task: {
      mode: "restore",
      from: { kind: "archive", name: archiveNameOf(backup) },
      sha256: backup.sha256,
      compare: true,
    },
    deadlineMs: storage.move_deadline,
    world: { claim: row.target_claim, mode: "rw" },
    archive: "ro",
    node: row.target_node,
  };
}
