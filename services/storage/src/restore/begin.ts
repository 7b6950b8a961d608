// Starts a restore of a whole world or some files, after a safety snapshot or at once (docs/reference/restore.md#chain).

import type { AuditActor } from "@svc/mesh";
import { backups, Fault, type Principal } from "@svc/proto";
import { assertMayAccess, scopeAt, type Wanted } from "../access.ts";
import { backupJobSpec, newBackupRow } from "../backup/start.ts";
import { findBackup } from "../backup/store.ts";
import type { BackupRow, StorageTrx } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { beginJob } from "../job/begin.ts";
import { newJobName } from "../job/names.ts";
import { findRestoreOf } from "../job/store.ts";
import { describeWorld, type WorldServer } from "../job/world.ts";
import { hasVolume } from "../job/world-claim.ts";
import { assertRestorable, chooseBackup } from "./choose-backup.ts";
import { restoreAnnotations, restoreJobSpec } from "./job-spec.ts";

type RestoreRequest = {
  server: string;
  principal: Principal;
  startedBy: string;
  backupId?: string;
  hasSnapshot: boolean;
  /** Only these files and folders, without deleting others; absent: the whole world. */
  only?: readonly string[];
  /** Who asks, as the audit log says it. */
  audit: AuditActor;
};

/** A restore of the whole world names no files: a member whose paths are limited has no right to it. */
function wantedOf({ only }: Pick<RestoreRequest, "only">): Wanted {
  return { to: backups.restore, ...(only && { writes: only }) };
}

type Begun = { backup: BackupRow; hasSnapshot: boolean };

/** Starts it and returns the backup that is restored, and whether a safety snapshot comes first. */
export async function beginRestore(deps: StorageDeps, request: RestoreRequest): Promise<Begun> {
  const { server, principal } = request;
  const check = (world: WorldServer) => assertMayAccess(principal, world, wantedOf(request));
  const now = await describeWorld(deps, server);
  check(now);
  const running = await findRestoreOf(deps.db, server);
  if (running && running.backup_id !== request.backupId) throw new Fault("restore_in_progress");
  const scope = scopeAt(principal, now, wantedOf(request));
  const backup = await chooseBackup(deps, { scope, backupId: request.backupId, world: now });
  // A server that was made again has no world that could be lost.
  const makesVolume = request.only === undefined && !(await hasVolume(deps, now));
  const hasSnapshot = request.hasSnapshot && !makesVolume;
  const shared = {
    started_by: request.startedBy,
    backup_id: backup.id,
    only_paths: request.only ? JSON.stringify(request.only) : null,
  };
  await beginJob(deps, {
    server,
    lock: "restore",
    makesVolume,
    check,
    audit: () => ({
      ...request.audit,
      action: "backup.restore",
      server_name: server,
      payload: {
        backup_id: backup.id,
        safety_snapshot: hasSnapshot,
        ...(request.only && { only: request.only }),
      },
    }),
    admit: async (trx, world) => {
      await lockBackup(trx, request, { id: backup.id, world });
      const row = { ...newBackupRow(deps, server, world), ...shared };
      return hasSnapshot
        ? { ...row, reason: "pre_restore" as const, then_restore: "pending" as const }
        : { ...row, job: newJobName("restore", server), kind: "restore" as const, archive: null };
    },
    spec: (row, world) =>
      hasSnapshot
        ? { ...backupJobSpec(deps, row, world), annotations: restoreAnnotations(backup) }
        : {
            ...restoreJobSpec(deps, row, { backup, world }),
            // Its pod decides where the new volume is made.
            ...(makesVolume && world.node_name !== undefined && { node: world.node_name }),
          },
  });
  return { backup, hasSnapshot };
}

// From here on the backup cannot expire until the restore has ended.
async function lockBackup(
  trx: StorageTrx,
  request: RestoreRequest,
  { id, world }: { id: string; world: WorldServer },
): Promise<void> {
  const scope = scopeAt(request.principal, world, wantedOf(request));
  assertRestorable(await findBackup(trx, { scope, id, lock: true }), request.server);
}
