import type { Handler } from "@svc/mesh";
import type { buildsHealth } from "@svc/proto";
import { sql } from "kysely";
import type { BuildsDb } from "../database.ts";
import { countFlagged, listFlagged } from "../rescan/store.ts";

const failedWithinMs = 6 * 3_600_000;
const longestError = 300;

/** builds.health.read */
export function createReadHealth(deps: {
  db: BuildsDb;
  now: () => number;
}): Handler<typeof buildsHealth.readBuildsHealth> {
  const { db, now } = deps;
  return async () => {
    const [failures, scan, flagged, [first]] = await Promise.all([
      listFailures(db, new Date(now() - failedWithinMs)),
      findNewestScan(db),
      countFlagged(db),
      listFlagged(db, { after: "", limit: 1 }),
    ]);
    const [newest] = failures;
    return {
      failed: failures.length,
      ...(flagged > 0 && { flagged }),
      ...(first && { first_flagged: { image_ref: first.image_ref, build_id: first.build_id } }),
      ...(newest && {
        newest_failure: {
          id: newest.id,
          error: (newest.error ?? "").slice(0, longestError),
          finished_at: newest.finished_at.toISOString(),
        },
      }),
      ...(scan && {
        newest_scan: { scanned_at: scan.scanned_at.toISOString(), database_at: scan.database_at },
      }),
    };
  };
}

function listFailures(db: BuildsDb, since: Date) {
  return db
    .selectFrom("image_builds")
    .select(["id", "error", "finished_at"])
    .where("status", "=", "failed")
    .where("finished_at", ">", since)
    .orderBy("finished_at", "desc")
    .limit(1_000)
    .$narrowType<{ finished_at: Date }>()
    .execute();
}

function findNewestScan(db: BuildsDb) {
  return db
    .selectFrom("image_build_scans")
    .select(["scanned_at", sql<string>`summary ->> 'database_at'`.as("database_at")])
    .where(sql<boolean>`summary ? 'database_at'`)
    .orderBy("scanned_at", "desc")
    .limit(1)
    .executeTakeFirst();
}
