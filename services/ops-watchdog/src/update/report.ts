import type { Handler } from "@svc/mesh";
import type { updates } from "@svc/proto";
import type { WatchdogDb } from "../database.ts";

/** Reports that are kept, so that somebody can see since when an update is available. */
const kept = 30;

/** ops-watchdog.update.read-report */
export function createReadReport(deps: {
  db: WatchdogDb;
  maxAgeMs: number;
  now: () => number;
}): Handler<typeof updates.readReport> {
  const { db, maxAgeMs, now } = deps;
  return async () => {
    const report = await newestReport(db);
    const stale = !report || now() - Date.parse(report.checked_at) > maxAgeMs;
    return { report: report ?? null, stale, max_age_seconds: Math.floor(maxAgeMs / 1_000) };
  };
}

export async function newestReport(db: WatchdogDb): Promise<updates.UpdateCheck | undefined> {
  const row = await db
    .selectFrom("update_reports")
    .select(["checked_at", "version", "components"])
    .orderBy("checked_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, checked_at: row.checked_at.toISOString() };
}

/** Stores a report and forgets those beyond the newest 30. */
export async function recordReport(db: WatchdogDb, report: updates.UpdateCheck): Promise<void> {
  const { version, components } = report;
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto("update_reports")
      .values({
        version,
        checked_at: new Date(report.checked_at),
        components: JSON.stringify(components),
      })
      .execute();
    const newest = trx.selectFrom("update_reports").select("id").orderBy("checked_at", "desc").limit(kept);
    await trx.deleteFrom("update_reports").where("id", "not in", newest).execute();
  });
}
