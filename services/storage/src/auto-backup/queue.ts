// Scheduled backups that are due: the leader starts them, operators can list them.

import type { Handler } from "@svc/mesh";
import type { backupKeeping } from "@svc/proto";
import { isStoreFull } from "../backup/policy.ts";
import { newestScheduled, presentBytes } from "../backup/store.ts";
import type { StorageDeps } from "../deps.ts";
import { findFailedSince, findSlotJobs } from "../job/store.ts";
import { listWorlds } from "../job/world.ts";
import { dueForBackup, holdsSlot } from "./policy.ts";

type Deps = Pick<StorageDeps, "mesh" | "db" | "settings" | "now">;

/** Names of servers whose scheduled backup is due, the most urgent first, without the `excluded` ones. */
export async function findDue(
  deps: Deps,
  excluded: ReadonlyMap<string, unknown> = new Map(),
): Promise<string[]> {
  const now = deps.now();
  const { scheduled_every: everyMs } = deps.settings.archive;
  const [all, newest, failed] = await Promise.all([
    listWorlds(deps),
    newestScheduled(deps.db),
    findFailedSince(deps.db, new Date(now - everyMs / 4)),
  ]);
  const worlds = all.filter(({ name }) => !excluded.has(name));
  return dueForBackup({ worlds, newest, failed, now, everyMs });
}

const maxShown = 1_000;

/** storage.backup.read-queue */
export const readQueue =
  (deps: Deps): Handler<typeof backupKeeping.readBackupQueue> =>
  async () => {
    const { archive, storage } = deps.settings;
    const isOff = archive.scheduled_every === 0 || storage.agent_image === "";
    const [running, due, { bytes }] = await Promise.all([
      findSlotJobs(deps.db),
      isOff ? [] : findDue(deps),
      presentBytes(deps.db),
    ]);
    const state = isOff ? "off" : isStoreFull(bytes, archive) ? "store_full" : "on";
    const busy = new Set(running.map(({ server_name }) => server_name));
    const waiting = due.filter((name) => !busy.has(name));
    return {
      state,
      running: running.map((row) => ({
        server: row.server_name,
        job: row.job,
        kind: row.kind === "restore" ? ("restore" as const) : ("backup" as const),
        started_at: row.started_at.toISOString(),
        holds_slot: holdsSlot(row, storage, deps.now()),
      })),
      waiting: waiting.slice(0, maxShown),
      waiting_total: waiting.length,
    };
  };
