import type { Handler } from "@svc/mesh";
import type { databaseBackups } from "@svc/proto";
import type { WatchdogDb } from "../database.ts";
import { findNewestBundle, findNewestDaily, findNewestRehearsal, listNewestBundles } from "./records.ts";

const listed = 50;

type Deps = {
  db: WatchdogDb;
  maxAgeMs: number;
  now: () => number;
  /** What the archive of the log covers, where there is one. */
  readPointInTime?: (() => Promise<databaseBackups.DatabaseBackupStatus["point_in_time"]>) | undefined;
};

/** ops-watchdog.database-backup.read-status */
export function createReadStatus(deps: Deps): Handler<typeof databaseBackups.readStatus> {
  return () => readStatus(deps);
}

export async function readStatus(deps: Deps): Promise<databaseBackups.DatabaseBackupStatus> {
  const { db, maxAgeMs, now, readPointInTime } = deps;
  const [last, daily, rehearsal, bundles, pointInTime] = await Promise.all([
    findNewestBundle(db),
    findNewestDaily(db),
    findNewestRehearsal(db),
    listNewestBundles(db, listed),
    readPointInTime?.(),
  ]);
  const dailyAt = daily?.taken_at;
  return {
    last: last
      ? {
          at: last.taken_at.toISOString(),
          name: last.name,
          label: last.label,
          size_bytes: last.size_bytes,
          version: last.version,
          schema_version: last.schema_version,
          dir: last.dir,
          ...(last.servers_error !== null && { servers_error: last.servers_error }),
          ...(dailyAt && { daily_at: dailyAt.toISOString() }),
        }
      : null,
    stale: isStale(dailyAt, maxAgeMs, now()),
    max_age_seconds: Math.floor(maxAgeMs / 1_000),
    ...(rehearsal && { rehearsal }),
    ...(pointInTime && { point_in_time: pointInTime }),
    bundles: bundles.map(({ name, taken_at, label, size_bytes, damage }) => ({
      name,
      at: taken_at.toISOString(),
      label,
      size_bytes,
      ...(damage !== null && { damage }),
    })),
  };
}

/** Only daily bundles count: a bundle that somebody took by hand says nothing about the next night. */
export function isStale(dailyAt: Date | undefined, maxAgeMs: number, now: number): boolean {
  return dailyAt === undefined || now - dailyAt.getTime() > maxAgeMs;
}
