// SQL of off-site copies.

import { sql } from "kysely";
import type { BackupRow, StorageDb } from "../database/tables.ts";

type Copy = { id: string; sha256: string; at: string | null };

/** Backups that may have a copy, in order of their ids. */
export function findArchives(
  db: StorageDb,
  { after, limit }: { after: string; limit: number },
): Promise<BackupRow[]> {
  return db
    .selectFrom("world_backups")
    .selectAll()
    .where((is) => is.or([is("status", "<>", "deleted"), is("offsite_at", "is not", null)]))
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit)
    .execute();
}

/** A backup whose archive is kept here, or should be. */
export function findPresent(db: StorageDb, id: string): Promise<BackupRow | undefined> {
  return db
    .selectFrom("world_backups")
    .selectAll()
    .where("id", "=", id)
    .where("status", "=", "present")
    .executeTakeFirst();
}

/** Rows whose digest is another one stay as they are; a repeat changes nothing. */
export async function recordCopies(db: StorageDb, copies: readonly Copy[]): Promise<number> {
  const { rows } = await sql`
    update world_backups b set offsite_at = c.at
    from jsonb_to_recordset(${JSON.stringify(copies)}::jsonb) as c(id text, sha256 text, at timestamptz)
    where b.id = c.id and b.sha256 = c.sha256
    returning b.id`.execute(db);
  return rows.length;
}

/** An older listing does not replace a newer one. */
export async function confirmCopies(db: StorageDb, listedAt: Date): Promise<void> {
  await db
    .insertInto("offsite_confirmations")
    .values({ listed_at: listedAt })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet({ listed_at: sql`greatest(offsite_confirmations.listed_at, excluded.listed_at)` }),
    )
    .execute();
}
