// Periodic work of one replica for all: reconciling Jobs, scheduled backups, moves, drills, cleanup. Leadership only saves
// work; every change is a compare-and-set, so two leaders for a moment do no harm.

import { startLease } from "@svc/kube";
import { repeat } from "@svc/service/loop";
import type { Wake } from "@svc/store/wake";
import { timed } from "@svc/telemetry";
import { createAutoBackup } from "./auto-backup/tick.ts";
import type { WorkWakes } from "./database/work-notifications.ts";
import type { StorageDeps } from "./deps.ts";
import { stepDrills } from "./drill/step.ts";
import { deleteOldDrills } from "./drill/store.ts";
import { sweepDrills } from "./drill/sweep.ts";
import { deleteOldVersions } from "./file/version-store.ts";
import { deleteOldTickets } from "./job/archive-ticket-store.ts";
import { deleteOldJobs } from "./job/store.ts";
import { moveWorlds } from "./move/serve.ts";
import { stepOrigins } from "./origin/step.ts";
import { reconcileJobs } from "./reconcile/reconcile-jobs.ts";

type Loop = {
  /** Read after each round. */
  everyMs: number | (() => number);
  /** For work that returns false while nothing is under way. */
  idleWake?: Wake;
  name: string;
  work: (signal: AbortSignal) => Promise<unknown>;
};

const cleanupEveryMs = 3_600_000;

export function startLeading(
  deps: StorageDeps,
  { identity, wakes }: { identity: string; wakes: WorkWakes },
): { close: () => Promise<void> } {
  const { kube, log, settings } = deps;
  const { storage, k8s } = settings;
  const autoBackup = createAutoBackup(deps);
  const loops: Loop[] = [
    { ...reconcileLoop(deps), idleWake: wakes.world_jobs },
    {
      everyMs: storage.move_interval,
      idleWake: wakes.world_migrations,
      name: "moves",
      work: (signal) => moveWorlds(deps, signal),
    },
    {
      everyMs: storage.auto_backup_interval,
      name: "scheduled backups",
      work: autoBackup.tick,
    },
    {
      everyMs: storage.settle_interval,
      idleWake: wakes.drills,
      name: "drills",
      work: (signal) => stepDrills(deps, signal),
    },
    {
      everyMs: storage.settle_interval,
      idleWake: wakes.origins,
      name: "worlds of clones",
      work: (signal) => stepOrigins(deps, signal),
    },
    { everyMs: cleanupEveryMs, name: "drill sweep", work: () => sweepDrills(deps) },
    {
      everyMs: cleanupEveryMs,
      name: "history cleanup",
      work: async () => {
        await deleteOldJobs(deps.db, new Date(deps.now() - storage.job_history));
        await deleteOldDrills(deps.db, new Date(deps.now() - storage.job_history));
        await deleteOldVersions(deps.db, new Date(deps.now() - storage.file_version_kept));
        await deleteOldTickets(deps.db, new Date(deps.now() - storage.job_history));
      },
    },
  ];
  const lease = startLease({
    kube,
    namespace: k8s.namespace,
    name: "storage-jobs",
    identity,
    durationMs: storage.lease_duration,
    renewMs: storage.lease_renew,
    lead: async (signal) => {
      const onError = (loop: string) => (error: Error) =>
        log.warn({ loop, error: error.message }, "loop failed; retrying");
      const run = ({ name, everyMs, idleWake, work }: Loop) =>
        repeat(work, {
          ...(idleWake && { idle: { everyMs: storage.idle_interval, wake: idleWake } }),
          everyMs,
          onError: onError(name),
          signal,
        });
      await Promise.all(loops.map(run));
    },
    log,
  });
  return { close: () => lease.release() };
}

/** Runs more often while any Job is open, so that a restore continues soon after its snapshot. */
function reconcileLoop(deps: StorageDeps): Loop {
  const { settle_busy_interval, settle_interval } = deps.settings.storage;
  let open = 0;
  const work = (signal: AbortSignal) =>
    timed(deps.metrics.reconciled, async () => {
      const { openRows, isBusy } = await reconcileJobs(deps, signal);
      open = openRows;
      return isBusy;
    });
  const everyMs = () => (open > 0 ? Math.min(settle_busy_interval, settle_interval) : settle_interval);
  return { name: "reconcile jobs", everyMs, work };
}
