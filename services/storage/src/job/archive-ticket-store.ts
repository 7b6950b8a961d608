// SQL of tickets and receipts.

import type { Insertable } from "kysely";
import type { ArchiveTicketsTable } from "../database/archive-tickets.ts";
import type { StorageDb } from "../database/tables.ts";

export async function insertTicket(db: StorageDb, row: Insertable<ArchiveTicketsTable>): Promise<void> {
  await db.insertInto("archive_tickets").values(row).execute();
}

/** Consumes a ticket; undefined for one that is unknown, wrong, used or expired, without a distinction. */
export function claimTicket(
  db: StorageDb,
  about: { id: string; kind: "put" | "get"; tokenHash: string; now: Date },
): Promise<{ job: string; archive: string } | undefined> {
  return db
    .updateTable("archive_tickets")
    .set({ used_at: about.now })
    .where("id", "=", about.id)
    .where("kind", "=", about.kind)
    .where("token_hash", "=", about.tokenHash)
    .where("used_at", "is", null)
    .where("expires_at", ">", about.now)
    .returning(["job", "archive"])
    .executeTakeFirst();
}

export type Receipt = { archive: string; size_bytes: number; sha256: string };

/** False when the ticket was revoked in the meantime: nobody will use the archive. */
export async function recordReceipt(
  db: StorageDb,
  id: string,
  about: Omit<Receipt, "archive"> & { now: Date },
): Promise<boolean> {
  const { size_bytes, sha256, now } = about;
  const done = await db
    .updateTable("archive_tickets")
    .set({ received_at: now, size_bytes, sha256 })
    .where("id", "=", id)
    .where("received_at", "is", null)
    .executeTakeFirst();
  return done.numUpdatedRows > 0n;
}

/** The receipt for an archive that a Job sent, once it is stored. */
export async function findReceipt(db: StorageDb, job: string): Promise<Receipt | undefined> {
  const row = await db
    .selectFrom("archive_tickets")
    .select(["archive", "size_bytes", "sha256"])
    .where("job", "=", job)
    .where("received_at", "is not", null)
    .executeTakeFirst();
  if (!row || row.size_bytes === null || row.sha256 === null) return undefined;
  return { archive: row.archive, size_bytes: row.size_bytes, sha256: row.sha256 };
}

/** Revokes all tickets of some Jobs and returns the archives that they were to send. */
export async function deleteTickets(db: StorageDb, jobs: readonly string[]): Promise<string[]> {
  const rows = await db
    .deleteFrom("archive_tickets")
    .where("job", "in", [...jobs])
    .returning(["kind", "archive"])
    .execute();
  return rows.filter(({ kind }) => kind === "put").map(({ archive }) => archive);
}

/** Whether any backup has this file. */
export async function isArchiveOfBackup(db: StorageDb, ref: string): Promise<boolean> {
  const row = await db
    .selectFrom("world_backups")
    .select("id")
    .where("backup_ref", "=", ref)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes expired tickets whose receipt nobody has read. */
export async function deleteOldTickets(db: StorageDb, before: Date): Promise<void> {
  await db.deleteFrom("archive_tickets").where("expires_at", "<", before).execute();
}
