// Continues a restore when its safety snapshot has ended. Every step may be repeated, and the process may die after any:
// create the restore's Job, relabel the snapshot's Job, record it.

import { isKubeError, type Job, resources } from "@svc/kube";
import { findBackup, findBackupOfJob } from "../backup/store.ts";
import type { BackupRow, JobRow } from "../database/tables.ts";
import { type ClusterDeps, inNamespace, type StorageDeps } from "../deps.ts";
import { createJob } from "../job/begin.ts";
import { jobNameAfter, label } from "../job/names.ts";
import { endThenRestore, insertJob } from "../job/store.ts";
import { chooseTransport } from "../job/transport.ts";
import { findWorld, type WorldServer } from "../job/world.ts";
import { decideAfterSnapshot, type Observed, type Plan } from "./decide.ts";
import { restoreJobSpec } from "./job-spec.ts";

type Jobs = ReadonlyMap<string, Job>;

export async function continueRestore(deps: StorageDeps, snapshot: JobRow, jobs: Jobs): Promise<void> {
  const { state } = snapshot;
  if (state === "starting" || state === "running") return;
  const found = await find(deps, snapshot, jobs);
  await act(deps, found, decideAfterSnapshot(await observe(deps, found, state)));
}

/** What the restore needs. */
type Found = {
  readonly snapshot: JobRow;
  readonly jobs: Jobs;
  /** The name of the Job that is or becomes the restore. */
  readonly restoreJob: string;
  readonly world: WorldServer | undefined;
  readonly backup: BackupRow | undefined;
};

async function find(deps: StorageDeps, snapshot: JobRow, jobs: Jobs): Promise<Found> {
  const [world, backup] = await Promise.all([
    findWorld(deps, snapshot.server_name),
    findBackup(deps.db, { scope: { kind: "all" }, id: snapshot.backup_id ?? "" }),
  ]);
  const restoreJob = jobNameAfter(snapshot.job, "restore", snapshot.server_name);
  return { snapshot, jobs, restoreJob, world, backup };
}

async function observe(
  deps: Pick<StorageDeps, "db" | "settings">,
  { snapshot, jobs, restoreJob, world, backup }: Found,
  state: "succeeded" | "failed",
): Promise<Observed> {
  return {
    snapshot: state,
    isHeld: jobs.get(snapshot.job)?.metadata.labels?.[label.thenRestore] === "pending",
    hasRestore: jobs.has(restoreJob),
    isConfigured: deps.settings.storage.agent_image !== "",
    server: !world ? "gone" : world.stopped ? "stopped" : "started",
    isSameOwner: (world?.owner_id ?? null) === snapshot.owner_id,
    isSnapshotWhole: await isWholeSnapshot(deps, snapshot),
    isBackupUsable: backup !== undefined && backup.corrupt_at === null,
  };
}

async function act(deps: StorageDeps, found: Found, plan: Plan): Promise<void> {
  if (plan === "wait") return;
  if (plan === "start") return startRestore(deps, found);
  const { job, server_name: server } = found.snapshot;
  await relabelSnapshot(deps, job, "abandoned");
  if (!(await endThenRestore(deps.db, job, { to: "abandoned", reason: plan.abandon }))) return;
  deps.log.warn({ server, reason: plan.abandon }, "restore abandoned");
}

/** The snapshot must contain everything the restore replaces. */
async function isWholeSnapshot({ db }: Pick<StorageDeps, "db">, { job }: JobRow): Promise<boolean> {
  const made = await findBackupOfJob(db, job);
  return (made?.unreadable_entries ?? 0) === 0;
}

async function startRestore(
  deps: Pick<StorageDeps, "kube" | "db" | "settings" | "now">,
  { snapshot, jobs, restoreJob, world, backup }: Found,
): Promise<void> {
  if (!jobs.has(restoreJob) && world && backup) {
    const spec = restoreJobSpec(deps, { ...snapshot, job: restoreJob }, { backup, world });
    await createJob(deps, await chooseTransport(deps, spec));
  }
  await relabelSnapshot(deps, snapshot.job, "started");
  await deps.db.transaction().execute(async (trx) => {
    if (!(await endThenRestore(trx, snapshot.job, { to: "started" }))) return;
    const { server_name, owner_id, started_by, backup_id, only_paths } = snapshot;
    await insertJob(trx, {
      job: restoreJob,
      server_name,
      kind: "restore",
      state: "running",
      owner_id,
      started_by,
      backup_id,
      only_paths: only_paths && JSON.stringify(only_paths),
      started_at: new Date(deps.now()),
    });
  });
}

/** Ends the snapshot's lock of the world; a Job that is gone locks nothing anyway. */
export async function relabelSnapshot(
  deps: ClusterDeps,
  job: string,
  to: "started" | "abandoned",
): Promise<void> {
  const merge = { metadata: { labels: { [label.thenRestore]: to } } };
  try {
    await deps.kube.patch(resources.jobs, { name: job, ...inNamespace(deps) }, { merge });
  } catch (error) {
    if (!isKubeError(error, 404)) throw error;
  }
}
