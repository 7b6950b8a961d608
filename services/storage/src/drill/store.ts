// All SQL of drills.

import { sql } from "kysely";
import type { Scope } from "../access.ts";
import type { DrillRow, StorageDb, StorageTrx } from "../database/tables.ts";
import { type Drill, toDrill } from "./drill.ts";

const listed = 50;

/** Until the transaction ends no other drill starts. */
export async function lockDrillStarts(trx: StorageTrx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('storage.drills'))`.execute(trx);
}

/** The drills under way, and the newest of a server. */
export async function findRecentDrills(trx: StorageTrx, server: string): Promise<DrillRow[]> {
  const underWay = await trx.selectFrom("drills").selectAll().where("finished_at", "is", null).execute();
  return [...underWay, ...(await ofServer(trx, server).limit(1).execute())];
}

export async function insertDrill(trx: StorageTrx, about: Pick<DrillRow, NewField>): Promise<Drill> {
  return toDrill(await trx.insertInto("drills").values(about).returningAll().executeTakeFirstOrThrow());
}
type NewField = "id" | "server_name" | "backup_id" | "started_at";

export async function findDrill(db: StorageDb, id: string): Promise<Drill | undefined> {
  const row = await db.selectFrom("drills").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toDrill(row);
}

/** Drills of a server whose backups are in the caller's scope, newest first. */
export async function listDrills(db: StorageDb, server: string, scope: Scope): Promise<Drill[]> {
  let query = ofServer(db, server).limit(listed);
  if (scope.kind === "none") return [];
  if (scope.kind === "owner") {
    const mine = db.selectFrom("world_backups").select("id").where("former_owner", "=", scope.userId);
    query = query.where("backup_id", "in", mine);
  }
  return (await query.execute()).map(toDrill);
}

function ofServer(db: StorageDb | StorageTrx, server: string) {
  const query = db.selectFrom("drills").selectAll().where("server_name", "=", server);
  return query.orderBy("started_at", "desc").orderBy("id", "desc");
}

export async function listUnderWay(db: StorageDb): Promise<Drill[]> {
  const query = db.selectFrom("drills").selectAll().where("finished_at", "is", null);
  return (await query.orderBy("started_at").execute()).map(toDrill);
}

/** Whether it was still in `before`, so that this step counts. */
export async function saveDrill(
  db: StorageDb,
  next: Drill,
  about: { before: Drill["state"]; finishedAt?: Date },
): Promise<boolean> {
  const { state, message, code, version, boot_seconds } = next;
  const done = await db
    .updateTable("drills")
    .set({
      state,
      ...(message !== undefined && { message }),
      ...(code !== undefined && { code }),
      ...(version !== undefined && { version }),
      ...(boot_seconds !== undefined && { boot_seconds }),
      ...(about.finishedAt && { finished_at: about.finishedAt }),
    })
    .where("id", "=", next.id)
    .where("state", "=", about.before)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

export async function deleteOldDrills(db: StorageDb, before: Date): Promise<void> {
  await db.deleteFrom("drills").where("finished_at", "<", before).execute();
}
