// SQL of reaper runs. Times come from the caller, so that all are of one clock.

import { randomUUID } from "node:crypto";
import { violates } from "@svc/store";
import type { RunRow } from "../database/reaper-runs.ts";
import type { StorageDb } from "../database/tables.ts";
import type { Summary } from "./summary.ts";

type NewRun = { startedBy: string; retentionOnly: boolean; attempt: number; now: Date };

/** Starts a run; undefined while another one is in progress. */
export async function insertRun(db: StorageDb, run: NewRun): Promise<RunRow | undefined> {
  const { startedBy, retentionOnly, attempt, now } = run;
  try {
    return await db
      .insertInto("reaper_runs")
      .values({
        id: randomUUID(),
        started_by: startedBy,
        retention_only: retentionOnly,
        attempt,
        started_at: now,
        heartbeat_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
  } catch (error) {
    if (violates(error, "reaper_runs_one_at_a_time")) return undefined;
    throw error;
  }
}

export function findRun(db: StorageDb, id: string): Promise<RunRow | undefined> {
  return db.selectFrom("reaper_runs").selectAll().where("id", "=", id).executeTakeFirst();
}

/** With `isFull` the newest that was not only for retention. */
export function findNewestRun(db: StorageDb, { isFull = false } = {}): Promise<RunRow | undefined> {
  const all = db.selectFrom("reaper_runs").selectAll().orderBy("started_at", "desc").limit(1);
  return (isFull ? all.where("retention_only", "=", false) : all).executeTakeFirst();
}

/** When the last successful run ended; undefined before the first. */
export async function findLastSuccess(db: StorageDb): Promise<Date | undefined> {
  const row = await db
    .selectFrom("reaper_runs")
    .select("finished_at")
    .where("state", "=", "succeeded")
    .orderBy("started_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.finished_at ?? undefined;
}

/** Records a heartbeat and the progress; false when the run was declared dead. */
export async function recordHeartbeat(
  db: StorageDb,
  id: string,
  about: { summary: Summary; notes: readonly string[]; now: Date },
): Promise<boolean> {
  const done = await db
    .updateTable("reaper_runs")
    .set({
      heartbeat_at: about.now,
      summary: JSON.stringify(about.summary),
      notes: JSON.stringify(about.notes),
    })
    .where("id", "=", id)
    .where("state", "=", "running")
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

export async function finishRun(
  db: StorageDb,
  id: string,
  end: {
    state: "succeeded" | "failed";
    message: string;
    summary: Summary;
    notes: readonly string[];
    now: Date;
  },
): Promise<void> {
  await db
    .updateTable("reaper_runs")
    .set({
      state: end.state,
      message: end.message,
      summary: JSON.stringify(end.summary),
      notes: JSON.stringify(end.notes),
      finished_at: end.now,
    })
    .where("id", "=", id)
    .where("state", "=", "running")
    .execute();
}

export const diedMessage = "the run ended with its process";

/** Fails runs without a heartbeat; what they did stays done. */
export async function failSilentRuns(db: StorageDb, about: { silentSince: Date; now: Date }): Promise<void> {
  await db
    .updateTable("reaper_runs")
    .set({ state: "failed", message: diedMessage, finished_at: about.now })
    .where("state", "=", "running")
    .where("heartbeat_at", "<", about.silentSince)
    .execute();
}

export async function deleteOldRuns(db: StorageDb, before: Date): Promise<void> {
  await db.deleteFrom("reaper_runs").where("finished_at", "<", before).execute();
}
