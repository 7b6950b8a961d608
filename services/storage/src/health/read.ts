import type { Handler } from "@svc/mesh";
import type { storageHealth } from "@svc/proto";
import { isStoreFull } from "../backup/policy.ts";
import { presentBytes } from "../backup/store.ts";
import type { StorageDb } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { findLastSuccess, findNewestRun } from "../reaper/run-store.ts";

const hourMs = 3_600_000;
const most = 20;
const longestMessage = 300;

type Deps = Pick<StorageDeps, "db" | "now"> & { settings: Pick<StorageDeps["settings"], "archive"> };

/** storage.health.read */
export const readHealth =
  (deps: Deps): Handler<typeof storageHealth.readStorageHealth> =>
  async () => {
    const { db, settings, now } = deps;
    // One after the other: it is asked every two minutes, and each connection more would be opened for it alone.
    return {
      failed_jobs: await listFailed(db, new Date(now() - 24 * hourMs)),
      stuck_jobs: await listStuck(db, new Date(now() - 6 * hourMs)),
      reaper: await readReaper(db, new Date(now() - 24 * hourMs)),
      store_full: isStoreFull((await presentBytes(db)).bytes, settings.archive),
    };
  };

function jobsOf(db: StorageDb) {
  return db
    .selectFrom("world_jobs")
    .select(["job", "server_name as server", "kind", "message", "started_at", "finished_at"])
    .where("kind", "in", ["backup", "restore"])
    .limit(most);
}

async function listFailed(db: StorageDb, since: Date): Promise<storageHealth.StorageHealth["failed_jobs"]> {
  const rows = await jobsOf(db)
    .where("state", "=", "failed")
    .where("finished_at", ">", since)
    .orderBy("finished_at", "desc")
    .execute();
  return rows.map(({ job, server, kind, message, finished_at }) => ({
    job,
    server,
    kind: kindOf(kind),
    message: message.slice(0, longestMessage),
    finished_at: (finished_at ?? since).toISOString(),
  }));
}

async function listStuck(db: StorageDb, before: Date): Promise<storageHealth.StorageHealth["stuck_jobs"]> {
  const rows = await jobsOf(db)
    .where("state", "in", ["starting", "running"])
    .where("started_at", "<", before)
    .orderBy("started_at")
    .execute();
  return rows.map(({ job, server, kind, started_at }) => ({
    job,
    server,
    kind: kindOf(kind),
    started_at: started_at.toISOString(),
  }));
}

function kindOf(kind: string): "backup" | "restore" {
  return kind === "restore" ? "restore" : "backup";
}

async function readReaper(db: StorageDb, since: Date): Promise<storageHealth.StorageHealth["reaper"]> {
  const newest = await findNewestRun(db);
  const success = await findLastSuccess(db);
  const first = await db
    .selectFrom("reaper_runs")
    .select((of) => of.fn.min("started_at").as("at"))
    .executeTakeFirst();
  const hasFailed = newest?.state === "failed" && newest.started_at > since;
  return {
    ...(first?.at && { first_run_at: first.at.toISOString() }),
    ...(success && { last_success_at: success.toISOString() }),
    ...(hasFailed && { failed: { id: newest.id, message: newest.message.slice(0, longestMessage) } }),
  };
}
