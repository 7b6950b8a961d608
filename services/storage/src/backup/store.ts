// All SQL of backups.

import { backups } from "@svc/proto";
import { outboxRow } from "@svc/store";
import { type Insertable, sql } from "kysely";
import type { Scope } from "../access.ts";
import type { BackupRow, StorageDb, StorageTrx, WorldBackupsTable } from "../database/tables.ts";
import { decidePrune, type Pin } from "./policy.ts";

type AnyDb = StorageDb | StorageTrx;

export const restoreReads = sql<boolean>`exists (
  select 1 from world_jobs where world_jobs.backup_id = world_backups.id
  and ((world_jobs.kind = 'restore' and world_jobs.state in ('starting', 'running'))
    or world_jobs.then_restore = 'pending'))`;

function ofOwner({ userId, servers, shared = [] }: Extract<Scope, { kind: "owner" }>) {
  const own = sql<boolean>`(former_owner = ${userId}
    and (${servers === undefined} or server_name = any(${[...(servers ?? [])]}::text[])))`;
  if (shared.length === 0) return own;
  const [names, theirs] = [shared.map(({ server }) => server), shared.map(({ owner }) => owner)];
  return sql<boolean>`(${own} or (server_name, former_owner) in (
    select * from unnest(${names}::text[], ${theirs}::text[])))`;
}

function inScope(db: AnyDb, scope: Scope, server?: string) {
  let query = db.selectFrom("world_backups").where("status", "=", "present");
  if (scope.kind === "owner") query = query.where(ofOwner(scope));
  if (scope.kind === "none") query = query.where(sql<boolean>`false`);
  return server === undefined ? query : query.where("server_name", "=", server);
}

/** One page of present backups, newest first, and how many there are. */
export async function listBackups(
  db: AnyDb,
  about: { scope: Scope; server?: string; limit: number; offset: number },
): Promise<{ rows: BackupRow[]; total: number }> {
  const { scope, server, limit, offset } = about;
  const [rows, counted] = await Promise.all([
    inScope(db, scope, server)
      .selectAll()
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .offset(offset)
      .execute(),
    inScope(db, scope, server)
      .select((is) => is.fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow(),
  ]);
  return { rows, total: Number(counted.total) };
}

/** A present backup in the caller's scope; with `lock` it cannot expire before this transaction ends. */
export function findBackup(
  db: AnyDb,
  about: { scope: Scope; id: string; lock?: boolean },
): Promise<BackupRow | undefined> {
  const query = inScope(db, about.scope).selectAll().where("id", "=", about.id);
  return (about.lock ? query.forUpdate() : query).executeTakeFirst();
}

/**
 * The newest backup of a server in the caller's scope, restorable ones first. With `owner` none of another owner: the
 * name may have belonged to another owner's server before.
 */
export function findLatest(
  db: AnyDb,
  { scope, server, owner }: { scope: Scope; server: string; owner?: string | undefined },
): Promise<BackupRow | undefined> {
  const all = inScope(db, scope, server);
  const fitting =
    owner === undefined
      ? all
      : all.where((is) => is.or([is("former_owner", "is", null), is("former_owner", "=", owner)]));
  return fitting
    .selectAll()
    .orderBy(sql`corrupt_at is not null`)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** The sizes of the world at its backups, in order, the newest `maxWorldSizes`. */
export async function listWorldSizes(
  db: AnyDb,
  { server, since }: { server: string; since: Date },
): Promise<{ created_at: Date; world_bytes: number }[]> {
  const rows = await db
    .selectFrom("world_backups")
    .select(["created_at", "world_bytes"])
    .where("server_name", "=", server)
    .where("created_at", ">=", since)
    .where("world_bytes", "is not", null)
    .orderBy("created_at", "desc")
    .limit(backups.maxWorldSizes)
    .execute();
  return rows
    .reverse()
    .map(({ created_at, world_bytes }) => ({ created_at, world_bytes: Number(world_bytes) }));
}

export async function presentBytes(db: AnyDb): Promise<{ bytes: number; count: number }> {
  const row = await db
    .selectFrom("world_backups")
    .select((is) => [
      is.fn.sum<number | null>("size_bytes").as("bytes"),
      is.fn.countAll<number>().as("count"),
    ])
    .where("status", "=", "present")
    .executeTakeFirstOrThrow();
  return { bytes: Number(row.bytes ?? 0), count: Number(row.count) };
}

export function findBackupOfJob(db: AnyDb, job: string): Promise<BackupRow | undefined> {
  return db.selectFrom("world_backups").selectAll().where("job", "=", job).executeTakeFirst();
}

/** Records a finished archive; false when this Job's backup is already recorded. */
export async function recordBackup(
  trx: StorageTrx,
  row: Insertable<WorldBackupsTable> & { created_at: Date },
): Promise<boolean> {
  const done = await trx
    .insertInto("world_backups")
    .values(row)
    .onConflict((conflict) => conflict.column("job").doNothing())
    .executeTakeFirst();
  if (Number(done.numInsertedOrUpdatedRows ?? 0) === 0) return false;
  const event = {
    id: row.id,
    server_name: row.server_name,
    reason: row.reason,
    size_bytes: row.size_bytes,
    job: row.job ?? "",
    at: row.created_at.toISOString(),
  };
  await trx.insertInto("outbox").values(outboxRow(backups.backupMade, event)).execute();
  return true;
}

/** Expires a present backup; false when it was not present. */
export async function expireBackup(
  trx: StorageTrx,
  about: { id: string; server_name: string; why: "deleted" | "pruned"; now: Date },
): Promise<boolean> {
  const done = await trx
    .updateTable("world_backups")
    .set({ status: "expired", expires_at: about.now, pinned_at: null, pinned_by_owner: false })
    .where("id", "=", about.id)
    .where("status", "=", "present")
    .executeTakeFirst();
  if (done.numUpdatedRows === 0n) return false;
  const { id, server_name, why } = about;
  const event = { id, server_name, why, at: about.now.toISOString() };
  await trx.insertInto("outbox").values(outboxRow(backups.backupExpired, event)).execute();
  return true;
}

/** Expires all but the newest `keep` of a server, owner and reason; returns the expired IDs. */
export async function pruneBackups(
  trx: StorageTrx,
  about: { server: string; owner: string | null; reason: backups.BackupReason; keep: number; now: Date },
): Promise<string[]> {
  const rows = await trx
    .selectFrom("world_backups")
    .select(["id", "created_at", "pinned_at", "corrupt_at", "unreadable_entries", restoreReads.as("in_use")])
    .where("status", "=", "present")
    .where("server_name", "=", about.server)
    .where("reason", "=", about.reason)
    .where(sql<boolean>`former_owner is not distinct from ${about.owner}`)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .forUpdate()
    .execute();
  const candidates = rows.map(({ pinned_at, corrupt_at, unreadable_entries, in_use, ...row }) => ({
    ...row,
    partial: unreadable_entries > 0,
    pinned: pinned_at !== null,
    inUse: in_use,
    corrupt: corrupt_at !== null,
  }));
  const gone = decidePrune(candidates, about.keep);
  for (const id of gone) {
    await expireBackup(trx, { id, server_name: about.server, why: "pruned", now: about.now });
  }
  return gone;
}

/** A corrupt backup cannot be restored; false when it was marked before. */
export async function markBackupCorrupt(
  trx: StorageTrx,
  about: { id: string; server_name: string; message: string; now: Date },
): Promise<boolean> {
  const done = await trx
    .updateTable("world_backups")
    .set({ corrupt_at: about.now })
    .where("id", "=", about.id)
    .where("corrupt_at", "is", null)
    .executeTakeFirst();
  if (done.numUpdatedRows === 0n) return false;
  const { id, server_name, message } = about;
  const event = { id, server_name, message, at: about.now.toISOString() };
  await trx.insertInto("outbox").values(outboxRow(backups.backupCondemned, event)).execute();
  return true;
}

/** A backup marked corrupt that verifies again can be restored again. */
export async function clearBackupCorrupt(db: AnyDb, id: string, now: Date): Promise<void> {
  await db
    .updateTable("world_backups")
    .set({ corrupt_at: null, verified_at: now })
    .where("id", "=", id)
    .execute();
}

export async function markVerified(db: AnyDb, id: string, now: Date): Promise<void> {
  await db.updateTable("world_backups").set({ verified_at: now }).where("id", "=", id).execute();
}

/** These are verified before all others: an archive of the same server that shares content with them is damaged. */
export async function markUnverified(db: AnyDb, about: { server: string; except: string }): Promise<void> {
  await db
    .updateTable("world_backups")
    .set({ verified_at: null })
    .where("server_name", "=", about.server)
    .where("id", "!=", about.except)
    .where("status", "=", "present")
    .where("corrupt_at", "is", null)
    .execute();
}

const skewMs = 600_000;

/**
 * Transfers a server's backups and running Jobs from one account to another, except those that are newer than the
 * transfer. Returns the number of backups.
 */
export function transferBackups(
  db: StorageDb,
  { server, from, to, at }: { server: string; from: string; to: string; at: Date },
): Promise<number> {
  const before = new Date(at.getTime() + skewMs);
  return db.transaction().execute(async (trx) => {
    await trx
      .updateTable("world_jobs")
      .set({ owner_id: to })
      .where("server_name", "=", server)
      .where("owner_id", "=", from)
      .where("started_at", "<=", before)
      .execute();
    const done = await trx
      .updateTable("world_backups")
      .set({ former_owner: to })
      .where("server_name", "=", server)
      .where("former_owner", "=", from)
      .where("created_at", "<=", before)
      .executeTakeFirst();
    return Number(done.numUpdatedRows);
  });
}

/** Sets the label and the pin of a present backup, each only when given. */
export function annotateBackup(
  trx: StorageTrx,
  about: { id: string; label?: string; pin?: Pin; now: Date },
): Promise<BackupRow> {
  const { id, label, pin, now } = about;
  return trx
    .updateTable("world_backups")
    .set({
      id,
      ...(label !== undefined && { label }),
      ...(pin !== undefined && { pinned_at: pin === "none" ? null : now, pinned_by_owner: pin === "owner" }),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Present backups that an account pinned; until the transaction ends it pins no other. */
export async function countOwnPins(trx: StorageTrx, userId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtext('storage.pins'), hashtext(${userId}))`.execute(trx);
  const { total } = await inScope(trx, { kind: "owner", userId })
    .select((is) => is.fn.countAll<number>().as("total"))
    .where("pinned_by_owner", "=", true)
    .executeTakeFirstOrThrow();
  return Number(total);
}

/**
 * Archives that may be deleted now, the longest expired first: expired, not pinned, and not needed by a restore.
 */
export function findDeletable(db: AnyDb, now: Date, limit: number): Promise<BackupRow[]> {
  return db
    .selectFrom("world_backups")
    .selectAll()
    .where("status", "!=", "deleted")
    .where((is) => is.or([is("status", "=", "expired"), is("expires_at", "<=", now)]))
    .where("pinned_at", "is", null)
    .where(sql<boolean>`not ${restoreReads}`)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
}

/** By server and owner: when their newest restorable scheduled backup was made. */
export async function newestScheduled(db: AnyDb): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom("world_backups")
    .select((is) => ["server_name", "former_owner", is.fn.max("created_at").as("newest")])
    .where("status", "=", "present")
    .where("reason", "=", "scheduled")
    .where("corrupt_at", "is", null)
    .groupBy(["server_name", "former_owner"])
    .execute();
  return new Map(rows.map((row) => [`${row.server_name}/${row.former_owner ?? ""}`, row.newest]));
}
