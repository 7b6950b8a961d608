// Scheduled backups, one after the other over the whole installation (docs/reference/backups.md#scheduled).

import { type FaultName, isFault } from "@svc/proto";
import { isStoreFull } from "../backup/policy.ts";
import { startBackup } from "../backup/start.ts";
import { presentBytes } from "../backup/store.ts";
import type { StorageDeps } from "../deps.ts";
import { findSlotJobs } from "../job/store.ts";
import { holdsSlot } from "./policy.ts";
import { findDue } from "./queue.ts";

type AutoBackup = {
  /** Starts at most one backup and returns its Job. */
  tick: (signal?: AbortSignal) => Promise<string | undefined>;
};

export function createAutoBackup(deps: StorageDeps): AutoBackup {
  const { archive, storage } = deps.settings;
  // Servers that could not be backed up, such as those never started, and when to try them again.
  const refused = new Map<string, number>();
  let isPaused = false;

  const isFull = async () => {
    const isFull = isStoreFull((await presentBytes(deps.db)).bytes, archive);
    if (isFull !== isPaused) {
      isPaused = isFull;
      deps.metrics.scheduledPaused(isFull);
      deps.log.warn(
        { full: isFull },
        isFull ? "scheduled backups paused: the backup store is full" : "scheduled backups resumed",
      );
    }
    return isFull;
  };

  /** Servers with a Job, and whether one of those Jobs still occupies the slot. */
  const findBusy = async () => {
    const now = deps.now();
    const rows = await findSlotJobs(deps.db);
    const holders = rows.filter((row) => holdsSlot(row, storage, now));
    const since = holders[0]?.started_at.getTime() ?? now;
    deps.metrics.slotHeld((now - since) / 1_000);
    return { isTaken: holders.length > 0, servers: new Set(rows.map(({ server_name }) => server_name)) };
  };

  const due = async (busy: ReadonlySet<string>) => {
    const now = deps.now();
    for (const [name, until] of refused) if (until <= now) refused.delete(name);
    const names = (await findDue(deps, refused)).filter((name) => !busy.has(name));
    deps.metrics.waiting(names.length);
    return names;
  };

  const tick: AutoBackup["tick"] = async (signal) => {
    if (archive.scheduled_every === 0 || storage.agent_image === "") return undefined;
    // Read before the due servers: a Job that ends in between made the backup that would seem to be due.
    const { isTaken, servers } = await findBusy();
    const names = await due(servers);
    if (isTaken || (await isFull())) return undefined;
    for (const name of names.slice(0, storage.auto_backup_tries)) {
      if (signal?.aborted) return undefined;
      const tried = await tryBackup(deps, name);
      if ("job" in tried) return tried.job;
      // A server without a world is retried late, a busy one soon, after the others.
      const hasNoVolume = tried.fault === "no_world_volume";
      refused.set(
        name,
        deps.now() + (hasNoVolume ? archive.scheduled_every / 4 : storage.auto_backup_interval * 2),
      );
    }
    return undefined;
  };
  return { tick };
}

async function tryBackup(deps: StorageDeps, server: string): Promise<{ job: string } | { fault: FaultName }> {
  try {
    const { job } = await startBackup(deps, {
      server,
      reason: "scheduled",
      startedBy: "scheduler",
      limits: { cooldown: false, cap: true },
      check: () => {},
      audit: { actor: "scheduler", source: "internal:storage", action: "backup.scheduled" },
    });
    return { job };
  } catch (error) {
    // The server was started, is locked or has no world yet; an unavailable dependency ends the round.
    if (!isFault(error) || error.fault === "unavailable") throw error;
    return { fault: error.fault };
  }
}
