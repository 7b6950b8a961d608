// Earlier versions of text files: all SQL of `file_versions` (docs/reference/files.md#history).

import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { FileVersionRow, StorageDb, StorageTrx } from "../database/tables.ts";

export type NewVersion = Pick<
  FileVersionRow,
  "server_name" | "path" | "content" | "replaced_by" | "replaced_at"
>;

/** Versions that are kept of one file, the newest. */
const versionsOfFile = 20;
/** Bytes that are kept of one server, the newest first. */
const bytesOfServer = 16 << 20;
/** What a version counts beside its content, so that empty ones are bounded too. */
const bytesOfRow = 4_096;

/** Keeps what a file was, in the transaction of the change that replaced it, and drops what is over the limits. */
export async function keepVersion(trx: StorageTrx, version: NewVersion): Promise<void> {
  const { server_name, path, content } = version;
  // Two writes of one server at once would count without each other.
  await sql`select pg_advisory_xact_lock(hashtext(${`file_versions ${server_name}`}))`.execute(trx);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const id = randomBytes(8).toString("hex");
  await trx
    .insertInto("file_versions")
    .values({ ...version, id, sha256, size_bytes: content.length })
    .execute();
  await sql`
    delete from storage.file_versions where id in (
      select id from storage.file_versions where server_name = ${server_name} and path = ${path}
      order by replaced_at desc, id desc offset ${versionsOfFile}
    )`.execute(trx);
  await sql`
    delete from storage.file_versions where id in (
      select id from (
        select id, sum(size_bytes + ${bytesOfRow}::bigint) over (order by replaced_at desc, id desc) as total
        from storage.file_versions where server_name = ${server_name}
      ) as counted where total > ${bytesOfServer}::bigint
    )`.execute(trx);
}

type Wanted = {
  server: string;
  path: string;
  /** Only what was replaced then or later. */
  since?: Date | undefined;
};

/** The newest first, without content. */
export async function listVersions(
  db: StorageDb,
  { server, path, since }: Wanted,
): Promise<Omit<FileVersionRow, "content">[]> {
  return db
    .selectFrom("file_versions")
    .select(["id", "server_name", "path", "sha256", "size_bytes", "replaced_by", "replaced_at"])
    .where("server_name", "=", server)
    .where("path", "=", path)
    .$if(since !== undefined, (query) => query.where("replaced_at", ">=", since ?? new Date(0)))
    .orderBy("replaced_at", "desc")
    .orderBy("id", "desc")
    .limit(versionsOfFile)
    .execute();
}

export async function findVersion(
  db: StorageDb,
  { server, path, since, id }: Wanted & { id: string },
): Promise<FileVersionRow | undefined> {
  return db
    .selectFrom("file_versions")
    .selectAll()
    .where("id", "=", id)
    .where("server_name", "=", server)
    .where("path", "=", path)
    .$if(since !== undefined, (query) => query.where("replaced_at", ">=", since ?? new Date(0)))
    .executeTakeFirst();
}

/** Of a server that is deleted or whose world is. */
export async function eraseVersions(db: StorageDb, server: string): Promise<void> {
  await db.deleteFrom("file_versions").where("server_name", "=", server).execute();
}

export async function deleteOldVersions(db: StorageDb, before: Date): Promise<void> {
  await db.deleteFrom("file_versions").where("replaced_at", "<", before).execute();
}
