// What is recorded of passes; the panel and `svc offsite status` show it.

import type { offsites } from "@svc/proto";
import { sql } from "kysely";
import type pg from "pg";
import type { PassReport, WatchdogDb } from "../database.ts";

export type PassRow = {
  started_at: Date;
  beat_at: Date;
  finished_at: Date | null;
  state: offsites.OffsitePass["state"];
  progress: offsites.OffsiteProgress | null;
  report: Partial<PassReport>;
};

/** A pass that gave no sign for this long is dead. */
const silenceMs = 120_000;

export type PassFacts = {
  last: PassRow | undefined;
  /** The newest that was completed, and the newest that listed the bucket. */
  completed: PassRow | undefined;
  listed: PassRow | undefined;
};

export async function findPasses(db: WatchdogDb): Promise<PassFacts> {
  const newest = () => db.selectFrom("offsite_passes").selectAll().orderBy("id", "desc").limit(1);
  const [last, completed, listed] = await Promise.all([
    newest().executeTakeFirst(),
    newest().where("state", "=", "completed").executeTakeFirst(),
    newest()
      .where((is) => is(is.ref("report", "->").key("kinds"), "is not", null))
      .executeTakeFirst(),
  ]);
  return { last, completed, listed };
}

/** Whether a pass of this host wrote to the bucket; those of a restored database may be of another host. */
export async function hasBeenWriter(db: WatchdogDb, hostId: string): Promise<boolean> {
  const found = await db
    .selectFrom("offsite_passes")
    .select("id")
    .where(sql<boolean>`report -> 'writer' ->> 'host_id' = ${hostId}`)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

export function toPass(row: PassRow, now: number): offsites.OffsitePass {
  const { sent = 0, sent_bytes = 0, deleted = 0, failed = 0, failures = [], error } = row.report;
  const isDead = row.state === "running" && now - row.beat_at.getTime() > silenceMs;
  const why = isDead ? "the process ended before the pass did" : error;
  return {
    state: isDead ? "failed" : row.state,
    started_at: row.started_at.toISOString(),
    ...(row.finished_at && { finished_at: row.finished_at.toISOString() }),
    sent,
    sent_bytes,
    deleted,
    failed,
    failures,
    ...(why !== undefined && { error: why }),
    ...(row.progress && row.state === "running" && { progress: row.progress }),
  };
}

type PassRecord = {
  progress: (progress: offsites.OffsiteProgress) => Promise<void>;
  finish: (state: offsites.OffsitePass["state"], report: PassReport) => Promise<void>;
};

const keptPasses = 200;

/** Records a new pass; older ones that were never finished have ended with their process. */
export async function beginPass(client: pg.Client): Promise<PassRecord> {
  await client.query(
    `update ops_watchdog.offsite_passes set state = 'failed', finished_at = beat_at,
       report = report || '{"error": "the process ended before the pass did"}' where state = 'running'`,
  );
  // The newest one that was completed says how old the copies are.
  await client.query(
    `delete from ops_watchdog.offsite_passes where id < (select max(id) - $1 from ops_watchdog.offsite_passes)
     and id <> coalesce((select max(id) from ops_watchdog.offsite_passes where state = 'completed'), 0)`,
    [keptPasses],
  );
  const { rows } = await client.query<{ id: number }>(
    "insert into ops_watchdog.offsite_passes default values returning id",
  );
  const id = rows[0]?.id;
  return {
    progress: async (progress) => {
      await client.query(
        "update ops_watchdog.offsite_passes set progress = $2, beat_at = now() where id = $1",
        [id, JSON.stringify(progress)],
      );
    },
    finish: async (state, report) => {
      await client.query(
        `update ops_watchdog.offsite_passes set state = $2, report = $3, beat_at = now(), finished_at = now()
         where id = $1`,
        [id, state, JSON.stringify(report)],
      );
    },
  };
}
