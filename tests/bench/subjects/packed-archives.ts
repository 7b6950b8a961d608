// Deduplicated archives with their copies in packs, for the bench of off-site passes.

import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ObjectStoreOptions, openObjectStore } from "@svc/object-store";
import { createSealedBody, type SealKey } from "@svc/sealed";
import { Folder, manifestNameOf, storeDeduplicated } from "@svc/world";
import { sql } from "kysely";
import { ChunkList } from "../../../libs/world/src/chunks/chunk-list.ts";
import { encodeManifest } from "../../../libs/world/src/chunks/manifest.ts";
import { encodeObject } from "../../../services/ops-watchdog/src/offsite/manifest-object.ts";
import { keyOfManifest, keyOfPack } from "../../../services/ops-watchdog/src/offsite/object-key.ts";
import type { StorageDb } from "../../../services/storage/src/database/tables.ts";
import { makePlayedWorld } from "../chunking/played-world.ts";

type Fixture = { dir: string; archives: string; db: StorageDb; key: SealKey };
type Made = { server: string; number: number; sizeBytes: number; sha256: string; isCopied: boolean };

const archivesOfServer = 10;
const chunkBytes = 300;
const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const nameOf = ({ server, number }: Pick<Made, "server" | "number">) => `${server}-${number}.tar.zst`;

export function packedArchives({ dir, archives, db, key }: Fixture) {
  async function addRows(rows: readonly Made[]): Promise<void> {
    const values = rows.map((row) => ({
      id: `pk-${row.server}-${row.number}`,
      ...{ server_name: row.server, backup_ref: join(archives, nameOf(row)) },
      ...{ size_bytes: row.sizeBytes, sha256: row.sha256, reason: "manual" as const },
      created_at: new Date(),
      expires_at: new Date(Date.now() + 60 * 86_400_000),
      offsite_at: row.isCopied ? new Date() : null,
    }));
    for (let at = 0; at < values.length; at += 1_000)
      await db
        .insertInto("world_backups")
        .values(values.slice(at, at + 1_000))
        .execute();
    await sql`vacuum analyze`.execute(db);
  }

  /** A server with one pack of one chunk, which all its archives consist of; here and in the bucket. */
  async function addServer(
    server: string,
    put: (object: string, plain: Buffer) => Promise<void>,
  ): Promise<Made[]> {
    const chunk = randomBytes(chunkBytes);
    const sha256 = digestOf(chunk);
    const pack = { name: `${server}-${randomBytes(16).toString("hex")}.pack`, size: chunkBytes };
    writeFileSync(join(archives, pack.name), chunk);
    await put(keyOfPack(pack.name), chunk);
    const rows: Made[] = [];
    for (let number = 1; number <= archivesOfServer; number += 1) {
      const about = { server, number, sizeBytes: chunkBytes, sha256: sha256.toString("hex"), isCopied: true };
      const chunks = new ChunkList();
      chunks.add(sha256, { pack: 0, at: 0, length: chunkBytes });
      const archive = nameOf(about);
      const manifest = encodeManifest({
        archive,
        size: chunkBytes,
        sha256: about.sha256,
        packs: [pack],
        chunks,
      });
      writeFileSync(join(archives, manifestNameOf(archive)), manifest);
      const packs = [{ name: pack.name, sizeBytes: pack.size, sha256: about.sha256 }];
      await put(
        keyOfManifest(archive),
        encodeObject({ archive, sizeBytes: chunkBytes, sha256: about.sha256, packs }, manifest),
      );
      rows.push(about);
    }
    return rows;
  }

  let played: ReturnType<typeof makePlayedWorld> | undefined;
  const world = join(dir, "played");
  return {
    /** So many archives, ten of each server, with their copies. */
    fillPacked: async ({ count, s3 }: { count: number; s3: ObjectStoreOptions }): Promise<null> => {
      const bucket = openObjectStore(s3);
      const put = async (object: string, plain: Buffer) => {
        const readPlain = async function* () {
          yield plain;
        };
        const body = () => createSealedBody({ key, plainBytes: plain.length, readPlain });
        await bucket.put({ key: object, fingerprint: object, body });
      };
      const rows: Made[] = [];
      let next = 1;
      const work = async () => {
        for (let n = next++; n <= count / archivesOfServer; n = next++)
          rows.push(...(await addServer(`bench${n}`, put)));
      };
      await Promise.all(Array.from({ length: 8 }, work));
      bucket.close();
      await addRows(rows);
      return null;
    },
    /** A backup of a world after another day, without a copy; bytes of the archive. */
    addDay: async ({ day, width }: { day: number; width: number }): Promise<number> => {
      if (played) played.play();
      else {
        mkdirSync(world);
        played = makePlayedWorld(world, { width, seed: 7 });
      }
      await using folder = await Folder.openRoot(world);
      await using store = await Folder.openRoot(archives);
      const about = { server: "days", number: day };
      const { sizeBytes, sha256 } = await storeDeduplicated({
        world: folder,
        store,
        name: nameOf(about),
        keepFree: 0,
      });
      await addRows([{ ...about, sizeBytes, sha256, isCopied: false }]);
      return sizeBytes;
    },
    loseDay: ({ day }: { day: number }): null => {
      rmSync(join(archives, manifestNameOf(nameOf({ server: "days", number: day }))));
      return null;
    },
    hasDay: ({ day }: { day: number }): boolean =>
      existsSync(join(archives, nameOf({ server: "days", number: day }))),
  };
}
