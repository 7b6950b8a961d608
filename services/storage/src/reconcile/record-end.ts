// Records how a Job ended: its row, the resulting backup and the events, in one transaction.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { backups } from "@svc/proto";
import type { TaskDone, TaskFault } from "@svc/proto/world-task";
import { outboxRow } from "@svc/store";
import { expiryOf, retainedCount } from "../backup/policy.ts";
import {
  markBackupCorrupt,
  markUnverified,
  markVerified,
  pruneBackups,
  recordBackup,
} from "../backup/store.ts";
import type { JobRow, StorageTrx } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { findJob, finishJob } from "../job/store.ts";

/** False when the end was already recorded. */
export async function recordBackupMade(deps: StorageDeps, row: JobRow, done: TaskDone): Promise<boolean> {
  const { settings } = deps;
  const { sha256, size_bytes } = done;
  const reason = row.reason ?? "manual";
  if (row.archive === null || sha256 === undefined || size_bytes === undefined) {
    return recordFailure(deps, row, "the job did not report the size and digest of its archive");
  }
  const at = new Date(deps.now());
  const backup = {
    id: `bk-${randomBytes(16).toString("hex")}`,
    server_name: row.server_name,
    backup_ref: join(settings.archive.local_path, row.archive),
    size_bytes,
    reason,
    // The world is as of the request: its server has been stopped since.
    created_at: row.started_at,
    expires_at: expiryOf(reason, row.started_at, settings.archive),
    sha256,
    verified_at: at,
    skipped_entries: done.skipped_entries ?? 0,
    unreadable_entries: done.unreadable_entries ?? 0,
    job: row.job,
    world_bytes: done.bytes ?? null,
  };
  const pruned = await deps.db.transaction().execute(async (trx) => {
    const message = describeSkipped(done);
    const code = message === "" ? undefined : ("entries_left_out" as const);
    if (!(await finishJob(trx, row.job, { state: "succeeded", message, code, at }))) return undefined;
    // The server may have been transferred while the Job ran; its row has the new owner.
    const owner = (await findJob(trx, row.job))?.owner_id ?? null;
    await recordBackup(trx, { ...backup, former_owner: owner });
    if (done.damage !== undefined) await markUnverified(trx, { server: row.server_name, except: backup.id });
    const keep = retainedCount(reason, settings);
    if (keep === undefined) return [];
    const about = { server: row.server_name, owner, reason, keep, now: at };
    return pruneBackups(trx, about);
  });
  if (pruned === undefined) return false;
  deps.metrics.counted("made", reason);
  logUnreadable(deps, row, done);
  logAdded(deps, row, done);
  for (const _ of pruned) deps.metrics.counted("pruned", reason);
  observeDuration(deps, row, "succeeded");
  return true;
}

/** Lists the entries the archive lacks, for the Job's message; empty when it has all. */
function describeSkipped({ skipped_entries = 0, skipped_names = [] }: TaskDone): string {
  if (skipped_entries === 0) return "";
  const more = skipped_entries > skipped_names.length ? ", ..." : "";
  return `left out ${skipped_entries}: ${skipped_names.join(", ")}${more}`.slice(0, maxMessageLength);
}

/** Skipped links are normal; unreadable files need an operator. */
function logUnreadable(
  { log }: Pick<StorageDeps, "log">,
  { server_name: server, job }: JobRow,
  done: TaskDone,
): void {
  const { unreadable_entries = 0 } = done;
  if (unreadable_entries === 0) return;
  log.warn(
    { server, job, unreadable: unreadable_entries, names: done.skipped_names },
    "backup is incomplete",
  );
}

/** How much a deduplicated archive added to the archive folder, and what it found damaged there. */
function logAdded(
  { log }: Pick<StorageDeps, "log">,
  { server_name: server, job }: JobRow,
  done: TaskDone,
): void {
  const { added_bytes: added, size_bytes: size } = done;
  if (added !== undefined) log.info({ server, job, added, size }, "backup is deduplicated");
  if (done.damage !== undefined)
    log.warn({ server, job, damage: done.damage }, "earlier backups are damaged and are verified next");
}

/** Records the end of any Job but a backup. */
export async function recordSuccess(
  deps: Pick<StorageDeps, "db" | "metrics" | "now">,
  row: JobRow,
): Promise<boolean> {
  const at = new Date(deps.now());
  const { job, server_name, backup_id } = row;
  const isNew = await deps.db.transaction().execute(async (trx) => {
    if (!(await finishJob(trx, job, { state: "succeeded", at }))) return false;
    if (row.kind !== "restore" || backup_id === null) return true;
    await markVerified(trx, backup_id, at);
    const event = { server_name, backup_id, job, at: at.toISOString() };
    await trx.insertInto("outbox").values(outboxRow(backups.worldRestored, event)).execute();
    return true;
  });
  if (isNew) observeDuration(deps, row, "succeeded");
  return isNew;
}

/** Codes that mean the archive itself is damaged. */
const corruptCodes: ReadonlySet<TaskFault["code"]> = new Set([
  "backup_corrupt",
  "digest_mismatch",
  "archive_invalid",
  "archive_unsafe",
]);

export async function recordFailure(
  deps: Pick<StorageDeps, "db" | "metrics" | "log" | "now">,
  row: JobRow,
  failure: string | TaskFault,
): Promise<boolean> {
  const fault = typeof failure === "string" ? undefined : failure;
  const message =
    typeof failure === "string" ? describeFailure(row, failure) : failure.message.slice(0, maxMessageLength);
  const now = new Date(deps.now());
  const isNew = await deps.db.transaction().execute(async (trx) => {
    const code = fault?.code ?? "job_failed";
    if (!(await finishJob(trx, row.job, { state: "failed", message, code, at: now }))) return false;
    const event = failureEvent(row, message, now);
    if (event) await trx.insertInto("outbox").values(event).execute();
    if (fault) await markCorrupt(deps, trx, { row, fault, now });
    return true;
  });
  if (!isNew) return false;
  deps.log.warn(
    { server: row.server_name, job: row.job, kind: row.kind, error: message },
    "world job failed",
  );
  observeDuration(deps, row, "failed");
  return true;
}

async function markCorrupt(
  deps: Pick<StorageDeps, "metrics">,
  trx: StorageTrx,
  { row, fault, now }: { row: JobRow; fault: TaskFault; now: Date },
): Promise<void> {
  const isMissing = fault.code === "not_found" && row.only_paths === null;
  if (row.kind !== "restore" || row.backup_id === null) return;
  if (!corruptCodes.has(fault.code) && !isMissing) return;
  const about = { id: row.backup_id, server_name: row.server_name, message: fault.message, now };
  if (await markBackupCorrupt(trx, about)) deps.metrics.counted("condemned", row.kind);
}

const maxMessageLength = 1_000;

// A Job that failed by itself says what became of the world; one that died cannot. The trees are swapped as a whole or not
// at all, and the next Job on the world completes a swap that was begun.
function describeFailure(row: JobRow, message: string): string {
  const hint =
    row.kind === "restore"
      ? "; the world is either unchanged or fully restored: start the server and check, or restore again"
      : "";
  return `${message}${hint}`.slice(0, maxMessageLength);
}

function failureEvent(row: JobRow, message: string, now: Date) {
  const { server_name, job, backup_id } = row;
  const about = { server_name, job, message, at: now.toISOString() };
  if (row.kind === "backup") return outboxRow(backups.backupFailed, about);
  if (row.kind !== "restore") return undefined;
  return outboxRow(backups.restoreFailed, { ...about, backup_id: backup_id ?? "" });
}

function observeDuration(
  deps: Pick<StorageDeps, "metrics" | "now">,
  row: JobRow,
  result: "succeeded" | "failed",
): void {
  deps.metrics.ended(row.kind, result, (deps.now() - row.started_at.getTime()) / 1_000);
}
