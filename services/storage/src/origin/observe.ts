// Reads what the next step of a clone's world depends on, once, before anything is decided.

import { lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import { findBackup, findBackupOfJob } from "../backup/store.ts";
import type { BackupRow, JobRow, OriginRow } from "../database/tables.ts";
import { inNamespace, type StorageDeps } from "../deps.ts";
import { findJob, findJobByRunKey } from "../job/store.ts";
import { findWorld, type WorldServer } from "../job/world.ts";
import type { Observed } from "./decide.ts";

export type Found = {
  readonly row: OriginRow;
  readonly world: WorldServer | undefined;
  readonly backup: BackupRow | undefined;
};

/** Names the backup that an attempt makes; a repeat finds it. */
export function runKeyOf({ id, attempt }: OriginRow): string {
  return `clone-${id}-${attempt}`;
}

const patienceMs = 3_600_000;

/** Whether an attempt has waited for so long that somebody should look. */
export function isLate({ now }: Pick<StorageDeps, "now">, { attempt_at }: OriginRow): boolean {
  return now() - attempt_at.getTime() > patienceMs;
}

/** Throws `unavailable` while lifecycle, the cluster or the database is away. */
export async function observeOrigin(
  deps: Pick<StorageDeps, "kube" | "mesh" | "db" | "settings" | "now">,
  row: OriginRow,
): Promise<{ observed: Observed; found: Found }> {
  const isNew = row.backup_id === null;
  // Before the lock is read: what the Job has restored by now was restored under it.
  const job = await (isNew ? findJobByRunKey(deps.db, runKeyOf(row)) : findJob(deps.db, row.job));
  const [world, server, backup] = await Promise.all([
    findWorld(deps, row.server_name),
    deps.kube.find(lockedServers, { name: row.server_name, ...inNamespace(deps) }),
    isNew ? job && findBackupOfJob(deps.db, job.job) : findBackupById(deps, row.backup_id ?? ""),
  ]);
  const isLocked = server?.metadata.annotations?.[maintenanceAnnotation] === row.lock;
  const observed: Observed = {
    state: stateOf(row),
    clone: !world || !server ? "gone" : !isLocked ? "unlocked" : world.stopped ? "at_rest" : "unsettled",
    isRetiring: world?.retiring !== undefined,
    isLate: isLate(deps, row),
    job: jobOf(job),
    backup: backupOf(backup),
  };
  return { observed, found: { row, world, backup } };
}

function findBackupById({ db }: Pick<StorageDeps, "db">, id: string): Promise<BackupRow | undefined> {
  return findBackup(db, { scope: { kind: "all" }, id });
}

function stateOf({ state }: OriginRow): Observed["state"] {
  if (state === "done" || state === "given_up")
    throw new Error(`an origin that is ${state} has no next step`);
  return state;
}

function jobOf(job: JobRow | undefined): Observed["job"] {
  if (!job) return "none";
  if (job.state === "succeeded") return "succeeded";
  if (job.state !== "failed") return "under_way";
  return { code: codeOf(job), message: job.message };
}

function codeOf({ code }: JobRow) {
  return code === "" || code === "entries_left_out" ? "job_failed" : code;
}

function backupOf(backup: BackupRow | undefined): Observed["backup"] {
  if (backup?.status !== "present") return "none";
  if (backup.corrupt_at) return "corrupt";
  return backup.unreadable_entries > 0 ? "incomplete" : "sound";
}
