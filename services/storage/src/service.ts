// Table of contents: which handler answers which contract.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { connectKube, type Kube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { backupChanges, backupKeeping, backups, restorePlans, storageHealth } from "@svc/proto";
import type { Running, Runtime } from "@svc/service";
import { readQueue } from "./auto-backup/queue.ts";
import { annotate, edit } from "./backup/annotate.ts";
import { browse, listFiles } from "./backup/browse.ts";
import { compare, listChanges } from "./backup/changes.ts";
import { create } from "./backup/create.ts";
import { createEmergency } from "./backup/create-emergency.ts";
import { expire } from "./backup/expire.ts";
import { find } from "./backup/find.ts";
import { followOwners } from "./backup/follow-owner.ts";
import { list } from "./backup/list.ts";
import { listSizes } from "./backup/list-world-sizes.ts";
import { planNow, resume, startNow } from "./backup/now.ts";
import { readRun } from "./backup/read-run.ts";
import { startScheduled } from "./backup/start-scheduled.ts";
import { kubeconfigFile, type Settings } from "./config.ts";
import type { Tables } from "./database/tables.ts";
import { listenForWork } from "./database/work-notifications.ts";
import type { StorageDeps } from "./deps.ts";
import { serveDrills } from "./drill/serve.ts";
import { createJobSlots } from "./file/job-slots.ts";
import { readHealth } from "./health/read.ts";
import { listJobs } from "./job/list.ts";
import { listJobsByOperator } from "./job/list-by-operator.ts";
import { startLeading } from "./leader.ts";
import { createStorageMetrics } from "./metrics.ts";
import { serveMoves } from "./move/serve.ts";
import { followClones } from "./origin/follow.ts";
import { serveOrigins } from "./origin/serve.ts";
import { startReaping } from "./reaper/serve.ts";
import { restoreByOperator } from "./restore/by-operator.ts";
import { planByOperator, planRestore } from "./restore/plan.ts";
import { restore } from "./restore/restore.ts";
import { startTransfers } from "./serve-transfers.ts";

type StorageRuntime = Omit<Runtime<Settings, Tables>, "environment" | "signal" | "tracing"> &
  Partial<Pick<Runtime<Settings, Tables>, "tracing">>;

/** Starts one replica: each answers requests, one of them also reconciles what runs. */
export async function startStorage(
  { settings, mesh, store, log, registry, tracing }: StorageRuntime,
  about: { kubeconfig?: string | undefined; kube?: Kube; now?: () => number } = {},
): Promise<Running> {
  const kube = about.kube ?? connectKube({ kubeconfigFile: about.kubeconfig ?? kubeconfigFile() });
  const metrics = createStorageMetrics(registry);
  const deps: StorageDeps = {
    ...{ kube, mesh, db: store.db, settings, metrics, log },
    now: about.now ?? Date.now,
    ...(tracing && { traceparent: tracing.current }),
  };
  serveBackups(mesh, deps);
  serveOperator(mesh, deps);
  serveDrills(mesh, deps);
  serveOrigins(mesh, deps);
  serveMoves(mesh, deps);
  await followOwners(mesh, deps);
  await followClones(mesh, deps);
  const reaping = startReaping(mesh, deps, registry);
  const { wakes, ...listening } = listenForWork(store, log);
  const transfers = startTransfers(deps, { mesh, registry, changeWake: wakes.file_changes });
  const identity = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const leading = startLeading(deps, { identity, wakes });
  return {
    stop: async () => {
      await reaping.close();
      await Promise.all([leading.close(), transfers.close(), listening.close()]);
      kube.close();
    },
  };
}

function serveBackups(mesh: Pick<Mesh, "serve">, deps: StorageDeps): void {
  mesh.serve(backups.create, create(deps));
  mesh.serve(backups.createEmergency, createEmergency(deps));
  mesh.serve(backups.list, list(deps));
  mesh.serve(backups.expire, expire(deps));
  mesh.serve(backups.edit, edit(deps));
  const jobSlots = createJobSlots(deps.settings.storage.file_jobs_at_once);
  mesh.serve(backups.listFiles, listFiles(deps, jobSlots));
  mesh.serve(backupChanges.listChanges, listChanges(deps, jobSlots));
  mesh.serve(restorePlans.plan, planRestore(deps, jobSlots));
  mesh.serve(backups.restore, restore(deps));
  mesh.serve(backups.listJobs, listJobs(deps));
  mesh.serve(backups.startScheduledBackup, startScheduled(deps));
  mesh.serve(backups.readBackupRun, readRun(deps));
  mesh.serve(backups.listWorldSizes, listSizes(deps));
}

function serveOperator(mesh: Pick<Mesh, "serve">, deps: StorageDeps): void {
  mesh.serve(storageHealth.readStorageHealth, readHealth(deps));
  mesh.serve(backupKeeping.findBackups, find(deps));
  mesh.serve(backupKeeping.annotateBackup, annotate(deps));
  mesh.serve(backupKeeping.browseBackup, browse(deps));
  mesh.serve(backupChanges.compareBackups, compare(deps));
  mesh.serve(restorePlans.planByOperator, planByOperator(deps));
  mesh.serve(backupKeeping.restoreByOperator, restoreByOperator(deps));
  mesh.serve(backupKeeping.listJobsByOperator, listJobsByOperator(deps));
  mesh.serve(backupKeeping.readBackupQueue, readQueue(deps));
  mesh.serve(backupKeeping.planBackups, planNow(deps));
  mesh.serve(backupKeeping.backUpNow, startNow(deps));
  mesh.serve(backupKeeping.resumeAfterBackup, resume(deps));
}
