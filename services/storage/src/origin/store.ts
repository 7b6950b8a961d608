// All SQL of worlds on their way to clones.

import type { clones, origins } from "@svc/proto";
import type { OriginRow, StorageDb, StorageTrx } from "../database/tables.ts";
import { newJobName } from "../job/names.ts";

type AnyDb = StorageDb | StorageTrx;

/** The only mapping from a row to the view. */
export function toOrigin(row: OriginRow): origins.Origin {
  return {
    source: row.source_name,
    ...(row.backup_id !== null && { backup_id: row.backup_id }),
    state: row.state,
    ...(row.message !== null && { message: row.message }),
    ...(row.code !== null && { code: row.code }),
    attempt: row.attempt,
    started_at: row.started_at.toISOString(),
    ...(row.finished_at && { finished_at: row.finished_at.toISOString() }),
  };
}

/** An order may come several times; only the first makes a row. */
export async function insertOrigin(db: AnyDb, order: clones.CloneOrder & { name: string }): Promise<boolean> {
  const made = await db
    .insertInto("origins")
    .values({
      id: order.id,
      server_name: order.name,
      source_name: order.source,
      backup_id: order.backup_id ?? null,
      lock: order.lock,
      job: newJobName("restore", order.name),
      state: order.backup_id === undefined ? "backing_up" : "restoring",
      started_by: order.by,
      started_at: new Date(order.at),
      attempt_at: new Date(order.at),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (made.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** The newest of a name: an earlier server of that name may have been a clone too. */
export function findOrigin(db: AnyDb, server: string): Promise<OriginRow | undefined> {
  return db
    .selectFrom("origins")
    .selectAll()
    .where("server_name", "=", server)
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Those that have not come to an end, failed ones among them. */
export function listOpenOrigins(db: AnyDb): Promise<OriginRow[]> {
  return db
    .selectFrom("origins")
    .selectAll()
    .where("state", "in", ["backing_up", "restoring", "failed"])
    .orderBy("started_at")
    .execute();
}

/** Locks the row when it is still in this attempt, so that a leader that was replaced starts nothing. */
export async function isStill(trx: StorageTrx, { id, job, state }: OriginRow): Promise<boolean> {
  const row = await trx
    .selectFrom("origins")
    .select("id")
    .where("id", "=", id)
    .where("job", "=", job)
    .where("state", "=", state)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

type Change = Partial<
  Pick<
    OriginRow,
    "state" | "backup_id" | "job" | "attempt" | "attempt_at" | "message" | "code" | "finished_at"
  >
>;

/** False when it is no longer in this attempt and state. */
export async function changeOrigin(db: AnyDb, { id, job, state }: OriginRow, to: Change): Promise<boolean> {
  const done = await db
    .updateTable("origins")
    .set(to)
    .where("id", "=", id)
    .where("job", "=", job)
    .where("state", "=", state)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}
