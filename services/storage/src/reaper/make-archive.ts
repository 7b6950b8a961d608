// Makes a new archive of a world that the run has locked. The reconcile records its end like that of every backup, so the
// archive of a run that died is found by the next run.

import { Fault } from "@svc/proto";
import { violates } from "@svc/store";
import { backupJobSpec, newBackupRow } from "../backup/start.ts";
import { findBackupOfJob } from "../backup/store.ts";
import type { BackupRow, JobRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { createJob } from "../job/begin.ts";
import { poll } from "../job/poll.ts";
import { findJob, insertJob, markRunning } from "../job/store.ts";
import { chooseTransport } from "../job/transport.ts";
import type { WorldServer } from "./decide.ts";
import type { ReaperReason } from "./view.ts";

type ArchiveRequest = { world: WorldServer; reason: ReaperReason; signal: AbortSignal };

type Archived = { kind: "made"; backup: BackupRow } | { kind: "failed"; message: string };

/** Throws `maintenance_in_progress` while another Job of this world is open. */
export async function makeArchive(
  deps: Pick<StorageDeps, "kube" | "db" | "settings" | "now">,
  request: ArchiveRequest,
): Promise<Archived> {
  const { world, reason, signal } = request;
  const row = await writeRow(deps, world, reason);
  signal.throwIfAborted();
  const job = await chooseTransport(deps, backupJobSpec(deps, row, world));
  await createJob(deps, job);
  await markRunning(deps.db, row.job).catch(() => {});
  const ended = await waitFor(deps, row, signal);
  if (ended?.state !== "succeeded") {
    return { kind: "failed", message: ended?.message || "the backup exceeded its time limit" };
  }
  const backup = await findBackupOfJob(deps.db, row.job);
  return backup ? { kind: "made", backup } : { kind: "failed", message: "the backup was not recorded" };
}

async function writeRow(
  deps: Pick<StorageDeps, "db" | "settings" | "now">,
  world: WorldServer,
  reason: ReaperReason,
): Promise<JobRow> {
  const values = { ...newBackupRow(deps, world.name, world), reason, started_by: "reaper" };
  try {
    return await deps.db.transaction().execute((trx) => insertJob(trx, values));
  } catch (error) {
    if (!violates(error, "world_jobs_one_at_a_time")) throw error;
    throw new Fault("maintenance_in_progress", { cause: error });
  }
}

async function waitFor(
  deps: Pick<StorageDeps, "db" | "settings">,
  row: JobRow,
  signal: AbortSignal,
): Promise<JobRow | undefined> {
  const { backup_deadline, reaper_job_patience, await_interval: everyMs } = deps.settings.storage;
  const endAt = performance.now() + backup_deadline + reaper_job_patience;
  const probe = async () => {
    const now = await findJob(deps.db, row.job);
    return now?.state === "succeeded" || now?.state === "failed" ? now : undefined;
  };
  return poll(probe, { everyMs, endAt, signal });
}
