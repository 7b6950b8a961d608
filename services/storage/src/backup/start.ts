// Starts a backup of a stopped server's world, for every kind of caller.

import { type backups, Fault } from "@svc/proto";
import type { NewAuditEntry } from "@svc/store";
import type { JobRow, StorageTrx } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { beginJob } from "../job/begin.ts";
import { label, newArchiveName, newJobName } from "../job/names.ts";
import type { JobSpec } from "../job/spec.ts";
import { findLastStart } from "../job/store.ts";
import type { WorldServer } from "../job/world.ts";
import { cooldownLeft, isDeduplicated, isStoreFull } from "./policy.ts";
import { presentBytes } from "./store.ts";

type AuditedAs = Omit<NewAuditEntry, "server_name" | "payload"> & { payload?: Record<string, unknown> };

export type BackupRequest = {
  server: string;
  reason: Extract<backups.BackupReason, "manual" | "scheduled">;
  startedBy: string;
  /** Cooldown and cap apply to owners, not to staff and the host. */
  limits: { cooldown: boolean; cap: boolean };
  check: (world: WorldServer) => void | Promise<void>;
  runKey?: string;
  /** Fields of the audit entry besides the server and the Job. */
  audit: AuditedAs;
};

export async function startBackup(deps: StorageDeps, request: BackupRequest): Promise<JobRow> {
  const { server, reason } = request;
  return beginJob(deps, {
    server,
    lock: "backup",
    check: request.check,
    audit: ({ job }) => ({
      ...request.audit,
      server_name: server,
      payload: { job, ...request.audit.payload },
    }),
    admit: async (trx, world) => {
      await checkLimits(deps, trx, request);
      return {
        ...newBackupRow(deps, server, world),
        reason,
        started_by: request.startedBy,
        run_key: request.runKey ?? null,
      };
    },
    spec: (row, world) => backupJobSpec(deps, row, world),
  });
}

/** Columns of every backup Job; the archive's name is chosen before the Job is created. */
export function newBackupRow(
  deps: Pick<StorageDeps, "settings" | "now">,
  server: string,
  world: WorldServer,
) {
  const now = deps.now();
  return {
    job: newJobName("backup", server),
    server_name: server,
    kind: "backup" as const,
    owner_id: world.owner_id ?? null,
    archive: newArchiveName(server, now, deps.settings.archive.compression),
    started_at: new Date(now),
  };
}

async function checkLimits(
  deps: Pick<StorageDeps, "settings" | "now">,
  trx: StorageTrx,
  request: BackupRequest,
): Promise<void> {
  const { archive } = deps.settings;
  if (request.limits.cooldown && archive.manual_cooldown > 0) {
    const newest = await findLastStart(trx, { server: request.server, reason: "manual" });
    const left = cooldownLeft({ newest, now: deps.now() }, archive);
    if (left !== undefined) throw new Fault("backup_cooldown", { retryAfterSeconds: left });
  }
  if (!request.limits.cap) return;
  const { bytes } = await presentBytes(trx);
  if (!isStoreFull(bytes, archive)) return;
  throw new Fault("backup_store_full", {
    message:
      "The backup store is full; delete a backup you no longer need, or ask an operator for more space.",
  });
}

export function backupJobSpec(deps: Pick<StorageDeps, "settings">, row: JobRow, world: WorldServer): JobSpec {
  const { storage, archive } = deps.settings;
  if (row.archive === null) throw new Error(`the backup ${row.job} has no archive`);
  return {
    name: row.job,
    server: row.server_name,
    manager: "svc-backup",
    task: {
      mode: "backup",
      to: { kind: "archive", name: row.archive },
      keep_free: storage.keep_free,
      // An agent of the last release does not know the member.
      ...(isDeduplicated(row.reason ?? "manual", archive) && { deduplicate: true }),
      ...(archive.file_digests && { file_digests: true }),
    },
    deadlineMs: storage.backup_deadline,
    world: { claim: world.volume_claim, mode: "ro" },
    archive: "rw",
    labels: {
      ...(row.reason === "scheduled" && { [label.scheduled]: "true" }),
      ...(row.then_restore === "pending" && { [label.thenRestore]: "pending" }),
    },
  };
}
