// All SQL on what is recorded of bundles and rehearsals.

import type { databaseBackups } from "@svc/proto";
import type { Selectable } from "kysely";
import type { DatabaseBundlesTable, WatchdogDb } from "../database.ts";

type BundleRow = Selectable<DatabaseBundlesTable>;

/** The newest undamaged one of any label. */
export function findNewestBundle(db: WatchdogDb): Promise<BundleRow | undefined> {
  return db
    .selectFrom("database_bundles")
    .selectAll()
    .where("damage", "is", null)
    .orderBy("taken_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The newest of any label, damaged ones included. */
export function listNewestBundles(db: WatchdogDb, limit: number): Promise<BundleRow[]> {
  return db.selectFrom("database_bundles").selectAll().orderBy("taken_at", "desc").limit(limit).execute();
}

export function findNewestDaily(db: WatchdogDb): Promise<BundleRow | undefined> {
  return db
    .selectFrom("database_bundles")
    .selectAll()
    .where("label", "=", "daily")
    .where("damage", "is", null)
    .orderBy("taken_at", "desc")
    .limit(1)
    .executeTakeFirst();
}

export async function countDamaged(db: WatchdogDb): Promise<number> {
  const { count } = await db
    .selectFrom("database_bundles")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("damage", "is not", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function findNewestRehearsal(db: WatchdogDb): Promise<databaseBackups.Rehearsal | undefined> {
  const row = await db.selectFrom("rehearsals").selectAll().orderBy("id", "desc").limit(1).executeTakeFirst();
  if (!row) return undefined;
  return {
    bundle: row.bundle,
    at: row.started_at.toISOString(),
    succeeded: row.error === null,
    duration_seconds: row.duration_ms / 1_000,
    rows: row.row_count,
    ...(row.error !== null && { error: row.error }),
  };
}

/** When the newest rehearsal that succeeded was begun. */
export async function findLastRehearsed(db: WatchdogDb): Promise<Date | undefined> {
  const row = await db
    .selectFrom("rehearsals")
    .select("started_at")
    .where("error", "is", null)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.started_at;
}
