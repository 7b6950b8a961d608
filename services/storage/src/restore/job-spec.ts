import { archiveNameOf } from "../backup/row.ts";
import type { BackupRow, JobRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { annotation } from "../job/names.ts";
import type { JobSpec } from "../job/spec.ts";
import type { WorldServer } from "../job/world.ts";

/** The Job that replaces a world by a backup. */
export function restoreJobSpec(
  { settings }: Pick<StorageDeps, "settings">,
  row: Pick<JobRow, "job" | "server_name" | "only_paths">,
  from: { backup: BackupRow; world: Pick<WorldServer, "volume_claim">; compare?: boolean },
): JobSpec {
  const { backup, world, compare } = from;
  return {
    name: row.job,
    server: row.server_name,
    manager: "svc-restore",
    task: {
      mode: "restore",
      from: { kind: "archive", name: archiveNameOf(backup) },
      sha256: backup.sha256,
      ...(row.only_paths && { only: row.only_paths }),
      ...(compare && { compare }),
    },
    deadlineMs: settings.storage.restore_deadline,
    world: { claim: world.volume_claim, mode: "rw" },
    archive: "ro",
    annotations: restoreAnnotations(backup),
  };
}

/** Annotations for people who inspect the Job; also on the safety snapshot. */
export function restoreAnnotations(backup: BackupRow): Record<string, string> {
  return { [annotation.restoreRef]: backup.backup_ref, [annotation.restoreBackupId]: backup.id };
}
