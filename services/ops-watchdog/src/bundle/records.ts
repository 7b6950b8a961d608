// All SQL on what is recorded of bundles and rehearsals.

import type { databaseBackups } from "@svc/proto";
import type { Insertable, Selectable } from "kysely";
import type { DatabaseBundlesTable, WatchdogDb } from "../database.ts";

export type BundleRow = Selectable<DatabaseBundlesTable>;

export function findNewestBundle(db: WatchdogDb): Promise<BundleRow | undefined> {
  return db
    .selectFrom("database_bundles")
    .selectAll()
    .orderBy("taken_at", "desc")
    .limit(1)
    .executeTakeFirst();
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

/** Makes the rows those of the files that are there; what was found damaged stays so while the file is the same. */
export async function recordBundles(
  db: WatchdogDb,
  found: readonly Insertable<DatabaseBundlesTable>[],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const names = found.map(({ name }) => name);
    const gone = trx.deleteFrom("database_bundles");
    await (names.length > 0 ? gone.where("name", "not in", names) : gone).execute();
    if (found.length === 0) return;
    await trx
      .insertInto("database_bundles")
      .values([...found])
      .onConflict((conflict) =>
        conflict.column("name").doUpdateSet((row) => ({
          size_bytes: row.ref("excluded.size_bytes"),
          dir: row.ref("excluded.dir"),
        })),
      )
      .execute();
  });
}

/** Records how a verification ended: why the bundle is damaged, or null when all of it was read. */
export async function recordDamage(db: WatchdogDb, name: string, damage: string | null): Promise<void> {
  await db.updateTable("database_bundles").set({ damage }).where("name", "=", name).execute();
}

export async function recordRehearsal(
  db: WatchdogDb,
  rehearsal: {
    bundle: string;
    startedAt: Date;
    durationMs: number;
    rows: number;
    error?: string | undefined;
  },
): Promise<void> {
  await db
    .insertInto("rehearsals")
    .values({
      bundle: rehearsal.bundle,
      started_at: rehearsal.startedAt,
      duration_ms: Math.round(rehearsal.durationMs),
      row_count: rehearsal.rows,
      error: rehearsal.error ?? null,
    })
    .execute();
}
