// SQL of moves. Every change names the state it starts from, so two replicas never take a step twice.

import type { AuditActor } from "@svc/mesh";
import { migrations } from "@svc/proto";
import { outboxRow, violates } from "@svc/store";
import { type Insertable, sql } from "kysely";
import { recordAudit } from "../audit.ts";
import { recordBackup } from "../backup/store.ts";
import type { BackupRow, StorageDb, StorageTrx, WorldBackupsTable } from "../database/tables.ts";
import type { MoveRow, WorldMigrationsTable } from "../database/world-migrations.ts";

type Open = "backing_up" | "restoring" | "switching";
const open: readonly Open[] = ["backing_up", "restoring", "switching"];

/** Undefined when another move of this world has not ended. */
export async function insertMove(
  db: StorageDb,
  row: Insertable<WorldMigrationsTable>,
): Promise<MoveRow | undefined> {
  try {
    return await db.insertInto("world_migrations").values(row).returningAll().executeTakeFirstOrThrow();
  } catch (error) {
    if (violates(error, "world_migrations_one_at_a_time")) return undefined;
    throw error;
  }
}

/** The move of a server that has not ended; a failed one waits for a retry. */
export function findUnfinished(db: StorageDb, server: string): Promise<MoveRow | undefined> {
  return db
    .selectFrom("world_migrations")
    .selectAll()
    .where("server_name", "=", server)
    .where("state", "!=", "succeeded")
    .where("abandoned", "=", false)
    .executeTakeFirst();
}

export function findMove(db: StorageDb, server: string, id?: string): Promise<MoveRow | undefined> {
  let query = db.selectFrom("world_migrations").selectAll().where("server_name", "=", server);
  if (id !== undefined) query = query.where("id", "=", id);
  return query.where("locked_at", "is not", null).orderBy("started_at", "desc").limit(1).executeTakeFirst();
}

const mostListed = 100;

/** Unfinished moves first, then the latest. */
export function listMoves(db: StorageDb): Promise<MoveRow[]> {
  return (
    db
      .selectFrom("world_migrations")
      .selectAll()
      .where("locked_at", "is not", null)
      // A move whose lock was removed by hand has ended nowhere.
      .where((where) => where.or([where("abandoned", "=", false), where("cancelled_at", "is not", null)]))
      .orderBy(sql`state <> 'succeeded' and not abandoned`, "desc")
      .orderBy("updated_at", "desc")
      .limit(mostListed)
      .execute()
  );
}

export function findMoving(db: StorageDb): Promise<MoveRow[]> {
  return db
    .selectFrom("world_migrations")
    .selectAll()
    .where("state", "in", [...open])
    .orderBy("updated_at")
    .execute();
}

export function findMoveBackup(db: StorageDb, { backup_id }: MoveRow): Promise<BackupRow | undefined> {
  return db
    .selectFrom("world_backups")
    .selectAll()
    .where("id", "=", backup_id ?? "")
    .executeTakeFirst();
}

/** The archives of moves, by id. */
export async function findMoveBackups(
  db: StorageDb,
  moves: readonly MoveRow[],
): Promise<ReadonlyMap<string, BackupRow>> {
  const ids = moves.flatMap(({ backup_id }) => backup_id ?? []);
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("world_backups").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** `by`: the caller of the current request; without one the caller in the row. */
export async function markLocked(
  db: StorageDb,
  row: MoveRow,
  now: Date,
  by: AuditActor | ReturnType<typeof starterOf> = starterOf(row),
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const done = await trx
      .updateTable("world_migrations")
      .set({ locked_at: now, updated_at: now })
      .where("id", "=", row.id)
      .where("locked_at", "is", null)
      .executeTakeFirst();
    if (done.numUpdatedRows === 0n) return false;
    await emitBegun(trx, row, now);
    const payload = { migration: row.id, from: row.source_node, to: row.target_node };
    await recordAudit(trx, { ...by, action: "world.migrate", server_name: row.server_name, payload });
    return true;
  });
}

/** Deletes a move that never got its lock; nothing was done for it. */
export async function deleteUnlocked(db: StorageDb, id: string): Promise<void> {
  await db.deleteFrom("world_migrations").where("id", "=", id).where("locked_at", "is", null).execute();
}

/** Ends a move whose lock was removed by hand. Its archive is a normal backup from now on. */
export function abandon(db: StorageDb, id: string, now: Date): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .updateTable("world_migrations")
      .set({ abandoned: true, updated_at: now })
      .where("id", "=", id)
      .where("state", "=", "failed")
      .where("abandoned", "=", false)
      .where("cancelled_at", "is", null)
      .returning("backup_id")
      .executeTakeFirst();
    if (row) await unpin(trx, row.backup_id);
  });
}

/** Removes the pin of the move; a pin that was set since stays. */
async function unpin(trx: StorageTrx, backupId: string | null): Promise<void> {
  await trx
    .updateTable("world_backups")
    .set({ pinned_at: null })
    .where("id", "=", backupId ?? "")
    .whereRef("pinned_at", "=", "created_at")
    .execute();
}

/** Cancels a move; false when it has switched, is about to, or was cancelled before. */
export async function cancelMove(
  db: StorageTrx,
  id: string,
  { by, message, now }: { by: string; message: string; now: Date },
): Promise<boolean> {
  const done = await db
    .updateTable("world_migrations")
    .set({
      state: "failed",
      error: message.slice(0, 1_000),
      cancelled_at: now,
      cancelled_by: by,
      updated_at: now,
    })
    .where("id", "=", id)
    .where("state", "in", ["backing_up", "restoring", "failed"])
    .where("abandoned", "=", false)
    .where("cancelled_at", "is", null)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

/** Cancelled moves that are not cleaned up yet. */
export function findCancelled(db: StorageDb): Promise<MoveRow[]> {
  return db
    .selectFrom("world_migrations")
    .selectAll()
    .where("cancelled_at", "is not", null)
    .where("state", "=", "failed")
    .where("abandoned", "=", false)
    .orderBy("cancelled_at")
    .execute();
}

/** The cleanup is done; the archive is a normal backup. False when this was recorded before. */
export function endCancelled(db: StorageDb, row: MoveRow, now: Date): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const done = await trx
      .updateTable("world_migrations")
      .set({ abandoned: true, updated_at: now })
      .where("id", "=", row.id)
      .where("abandoned", "=", false)
      .executeTakeFirst();
    if (done.numUpdatedRows === 0n) return false;
    await unpin(trx, row.backup_id);
    const event = { ...about(row, now), by: row.cancelled_by ?? "" };
    await trx.insertInto("outbox").values(outboxRow(migrations.migrationCancelled, event)).execute();
    return true;
  });
}

/** The move had switched before it was cancelled: it has succeeded. */
export async function undoCancel(db: StorageDb, row: MoveRow, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const done = await trx
      .updateTable("world_migrations")
      .set({ state: "succeeded", stage: "succeeded", switched: true, error: "", updated_at: now })
      .where("id", "=", row.id)
      .where("state", "=", "failed")
      .where("abandoned", "=", false)
      .executeTakeFirst();
    if (done.numUpdatedRows > 0n) await emitSucceeded(trx, row, now);
  });
}

async function emitSucceeded(trx: StorageTrx, row: MoveRow, now: Date): Promise<void> {
  await unpin(trx, row.backup_id);
  const event = { ...about(row, now), from: row.source_node, to: row.target_node };
  await trx.insertInto("outbox").values(outboxRow(migrations.migrationSucceeded, event)).execute();
}

/** The archive is complete: records the backup and the next state in one transaction. It is pinned until the move ends. */
export function recordMoveBackup(
  db: StorageDb,
  row: MoveRow,
  backup: Insertable<WorldBackupsTable> & { created_at: Date; id: string },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const at = backup.created_at;
    const about = { from: "backing_up", to: "restoring", now: at } as const;
    if (!(await advance(trx, row, { ...about, backup_id: backup.id }, () => recordBackup(trx, backup))))
      return false;
    return true;
  });
}

type Step = { from: Open; to: Open | "succeeded"; now: Date; backup_id?: string };

/** Advances the state; false when it has changed meanwhile. `first` runs before, in the same transaction. */
export async function advance(
  db: StorageDb | StorageTrx,
  row: MoveRow,
  { from, to, now, backup_id }: Step,
  first?: () => Promise<unknown>,
): Promise<boolean> {
  const held = await db
    .selectFrom("world_migrations")
    .select("id")
    .where("id", "=", row.id)
    .where("state", "=", from)
    .where("attempt", "=", row.attempt)
    .forUpdate()
    .executeTakeFirst();
  if (!held) return false;
  await first?.();
  const done = await db
    .updateTable("world_migrations")
    .set({
      state: to,
      stage: to,
      updated_at: now,
      ...(backup_id !== undefined && { backup_id }),
      ...(to === "succeeded" && { switched: true }),
    })
    .where("id", "=", row.id)
    .where("state", "=", from)
    .where("attempt", "=", row.attempt)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

export function succeed(db: StorageDb, row: MoveRow, now: Date): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await advance(trx, row, { from: "switching", to: "succeeded", now }))) return false;
    await emitSucceeded(trx, row, now);
    await recordAudit(trx, {
      ...starterOf(row),
      action: "world.migrated",
      server_name: row.server_name,
      payload: { migration: row.id, from: row.source_node, to: row.target_node },
    });
    return true;
  });
}

export function fail(
  db: StorageDb,
  row: MoveRow,
  { message, now }: { message: string; now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const done = await trx
      .updateTable("world_migrations")
      .set({ state: "failed", error: message.slice(0, 1_000), updated_at: now })
      .where("id", "=", row.id)
      .where("state", "=", row.state)
      .where("attempt", "=", row.attempt)
      .executeTakeFirst();
    if (done.numUpdatedRows === 0n) return false;
    const event = { ...about(row, now), stage: row.stage, message };
    await trx.insertInto("outbox").values(outboxRow(migrations.migrationFailed, event)).execute();
    return true;
  });
}

/** From `failed` back to the failed stage; undefined when it is no longer failed. */
export function retryMove(
  db: StorageDb,
  { id, now, audit }: { id: string; now: Date; audit: AuditActor },
): Promise<MoveRow | undefined> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .updateTable("world_migrations")
      .set({ state: sql`stage`, attempt: sql`attempt + 1`, error: "", updated_at: now })
      .where("id", "=", id)
      .where("state", "=", "failed")
      .where("abandoned", "=", false)
      .where("cancelled_at", "is", null)
      .returningAll()
      .executeTakeFirst();
    if (!row) return undefined;
    await emitBegun(trx, row, now);
    const payload = { migration: id, attempt: row.attempt, stage: row.stage };
    const { server_name } = row;
    await recordAudit(trx, { ...audit, action: "world.migrate_retry", server_name, payload });
    return row;
  });
}

async function emitBegun(trx: StorageTrx, row: MoveRow, now: Date): Promise<void> {
  const event = { ...about(row, now), from: row.source_node, to: row.target_node, attempt: row.attempt };
  await trx.insertInto("outbox").values(outboxRow(migrations.migrationBegun, event)).execute();
}

function starterOf({ started_by }: MoveRow) {
  return { actor: started_by, source: "internal:storage" };
}

function about({ id, server_name }: MoveRow, now: Date) {
  return { id, server_name, at: now.toISOString() };
}
