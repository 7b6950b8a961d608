// SQL on backups that only the daily run needs.

import { sql } from "kysely";
import { expireBackup, presentBytes, restoreReads } from "../backup/store.ts";
import type { BackupRow, StorageDb, StorageTrx } from "../database/tables.ts";
import type { Candidate } from "./evict-plan.ts";

/** True while a restore or a move of a world reads the backup, or is going to. */
const isInUse = sql<boolean>`(${restoreReads} or exists (
  select 1 from world_migrations where world_migrations.backup_id = world_backups.id
  and world_migrations.state <> 'succeeded' and not world_migrations.abandoned))`;

export async function readClock(db: StorageDb): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the database returned no time");
  return row.now;
}

export function findBackupById(db: StorageDb, id: string): Promise<BackupRow | undefined> {
  return db.selectFrom("world_backups").selectAll().where("id", "=", id).executeTakeFirst();
}

/** What this batch archived of a server, the newest first. */
export function findReapBackups(db: StorageDb, server: string): Promise<BackupRow[]> {
  return db
    .selectFrom("world_backups")
    .selectAll()
    .where("server_name", "=", server)
    .where("status", "=", "present")
    .where("reason", "in", ["inactive_15d", "released"])
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/** Size of the server's newest archive: the best guess at how much the next one needs. */
export async function findLastSize(db: StorageDb, server: string): Promise<number> {
  const row = await db
    .selectFrom("world_backups")
    .select("size_bytes")
    .where("server_name", "=", server)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.size_bytes ?? 0;
}

/** Owner of each server that still has a world of its own, as far as lifecycle knows. */
export type LiveWorlds = ReadonlyMap<string, string | undefined>;

/** Whether the bucket was listed since `since` and every recorded copy was in it: a record alone may be of an emptied bucket. */
const areConfirmed = (since: Date) =>
  sql<boolean>`exists (select 1 from offsite_confirmations where listed_at >= ${since})`;

/** What may go to make room, with what speaks against it. A copy counts when it was confirmed since `confirmedSince`. */
export async function findEvictable(
  db: StorageDb,
  { live, confirmedSince }: { live: LiveWorlds; confirmedSince: Date },
): Promise<{ used: number; candidates: Candidate[] }> {
  const { bytes } = await presentBytes(db);
  const rows = await db
    .selectFrom("world_backups")
    .select(["id", "server_name", "former_owner", "reason", "size_bytes", "created_at"])
    .select(["pinned_at", isInUse.as("isInUse")])
    .select(sql<boolean>`offsite_at is not null and ${areConfirmed(confirmedSince)}`.as("hasCopy"))
    .select(
      // A server of the same name may have been another person's: whose world it was counts as well.
      sql<boolean>`not exists (select 1 from world_backups as newer where newer.status = 'present'
        and newer.corrupt_at is null and newer.server_name = world_backups.server_name
        and newer.former_owner is not distinct from world_backups.former_owner
        and (newer.created_at, newer.id) > (world_backups.created_at, world_backups.id))`.as("isNewest"),
    )
    .where("status", "=", "present")
    .where("reason", "in", ["manual", "inactive_15d", "released"])
    .orderBy("created_at")
    .execute();
  const candidates = rows.map(({ server_name, former_owner, isNewest, ...row }) => {
    const isLive = live.has(server_name) && (live.get(server_name) ?? null) === former_owner;
    return { ...row, isLast: isNewest && !isLive };
  });
  return { used: bytes, candidates };
}

/** Gives a manual backup up to make room; false when it was given up before, is pinned or is in use. */
export function evictManual(db: StorageDb, id: string, now: Date): Promise<boolean> {
  return expireUnused(db, id, {
    mayExpire: ({ status, reason }) => status === "present" && reason === "manual",
    expire: (trx, { server_name }) => expireBackup(trx, { id, server_name, why: "pruned", now }),
  });
}

/**
 * Gives a reclaimed world's local archive up; its off-site copy stays as long as it was promised. False when it was
 * given up before, is pinned or is in use.
 */
export function evictCopied(db: StorageDb, id: string, confirmedSince: Date): Promise<boolean> {
  return expireUnused(db, id, {
    mayExpire: ({ status, offsite_at }) => status === "present" && offsite_at !== null,
    expire: async (trx, row) => {
      const { rows } = await sql<{ yes: boolean }>`select ${areConfirmed(confirmedSince)} as yes`.execute(
        trx,
      );
      return rows[0]?.yes === true && markExpired(trx, row);
    },
  });
}

/** Expires a backup whose time is over, so that nobody starts to read it; false when it is still needed. */
export function takeForDeletion(db: StorageDb, id: string, now: Date): Promise<boolean> {
  return expireUnused(db, id, {
    mayExpire: ({ status, expires_at }) =>
      status === "expired" || (status === "present" && expires_at.getTime() <= now.getTime()),
    expire: markExpired,
  });
}

async function markExpired(trx: StorageTrx, { id }: BackupRow): Promise<boolean> {
  await trx.updateTable("world_backups").set({ status: "expired" }).where("id", "=", id).execute();
  return true;
}

type Expiry = {
  mayExpire: (row: BackupRow) => boolean;
  expire: (trx: StorageTrx, row: BackupRow) => Promise<boolean>;
};

// The row is locked before its users are read: a restore that started a moment ago is seen.
function expireUnused(db: StorageDb, id: string, { mayExpire, expire }: Expiry): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const one = trx.selectFrom("world_backups").where("id", "=", id);
    const row = await one.selectAll().forUpdate().executeTakeFirst();
    if (!row || row.pinned_at !== null || !mayExpire(row)) return false;
    const used = await one.select("id").where(isInUse).executeTakeFirst();
    return used === undefined && expire(trx, row);
  });
}

/** Called after the archive was deleted. */
export async function markDeleted(db: StorageDb, id: string, now: Date): Promise<void> {
  await db
    .updateTable("world_backups")
    .set({ status: "deleted", deleted_at: now })
    .where("id", "=", id)
    .where("status", "=", "expired")
    .execute();
}

/** Present backups that were not verified since `before`, the oldest verification first. */
export function findUnread(db: StorageDb, before: Date, limit: number): Promise<BackupRow[]> {
  return db
    .selectFrom("world_backups")
    .selectAll()
    .where("status", "=", "present")
    .where("corrupt_at", "is", null)
    .where((is) => is.or([is("verified_at", "is", null), is("verified_at", "<", before)]))
    .orderBy(sql`verified_at nulls first`)
    .orderBy("created_at")
    .limit(limit)
    .execute();
}

/** A random sample of present backups that are marked corrupt. */
export function findCorrupt(db: StorageDb, limit: number): Promise<BackupRow[]> {
  return db
    .selectFrom("world_backups")
    .selectAll()
    .where("status", "=", "present")
    .where("corrupt_at", "is not", null)
    .orderBy(sql`random()`)
    .limit(limit)
    .execute();
}

/** File names of the archives of all backups that are not deleted. */
export async function findRecordedArchives(db: StorageDb): Promise<Set<string>> {
  const rows = await db
    .selectFrom("world_backups")
    .select("backup_ref")
    .where("status", "!=", "deleted")
    .execute();
  return new Set(rows.map(({ backup_ref }) => backup_ref.slice(backup_ref.lastIndexOf("/") + 1)));
}

/** Names of archives with a backup record or an open Job, and whether there is any record at all. */
export async function findClaimedNames(db: StorageDb): Promise<{ names: Set<string>; hasRows: boolean }> {
  const [rows, jobs] = await Promise.all([
    db.selectFrom("world_backups").select("backup_ref").where("status", "!=", "deleted").execute(),
    db
      .selectFrom("world_jobs")
      .select("archive")
      .where("archive", "is not", null)
      .where("state", "in", ["starting", "running"])
      .execute(),
  ]);
  const names = [...rows.map(({ backup_ref }) => backup_ref), ...jobs.map(({ archive }) => archive ?? "")];
  return {
    names: new Set(names.map((ref) => ref.slice(ref.lastIndexOf("/") + 1))),
    hasRows: rows.length > 0,
  };
}
