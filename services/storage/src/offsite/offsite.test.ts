import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { fetchBytes, type Mesh, sendBytes } from "@svc/mesh";
import { startTestNats, type TestNats } from "@svc/mesh/testing";
import { offsiteArchives as contracts, isFault } from "@svc/proto";
import type { TestDatabase } from "@svc/store/testing";
import { Folder, manifestNameOf, readManifestHead, storeDeduplicated, writeArchive } from "@svc/world";
import { settings as schema } from "../config.ts";
import type { BackupRow, StorageDb, Tables } from "../database/tables.ts";
import { createStorageDatabase } from "../testing/fixture.ts";
import { writeFiles } from "../testing/worlds.ts";
import { serveOffsite } from "./serve.ts";

const now = new Date();
let database: TestDatabase;
let nats: TestNats;
let storage: Mesh;
let watchdog: Mesh;
let db: StorageDb;
let folder: string;
let closeDb: () => Promise<void>;
let bytes: Buffer;

before(async () => {
  [database, nats] = await Promise.all([createStorageDatabase(), startTestNats()]);
  const store = database.open<Tables>();
  db = store.db;
  closeDb = () => store.close();
  folder = mkdtempSync(join(tmpdir(), "svc-offsite-archives-"));
  bytes = await anArchive({ "level.dat": "a world", "region/r.0.0.mca": "chunks ".repeat(10_000) });
  [storage, watchdog] = await Promise.all([nats.connect("storage"), nats.connect("ops-watchdog")]);
  const settings = loadSettings(schema, { overrides: [`archive.local_path=${folder}`] });
  serveOffsite(storage, { db, settings, now: Date.now, byteTransfers: storage.byteTransfers });
  await storage.announce();
});
after(async () => {
  await Promise.all([storage?.drain(500), watchdog?.drain(500)]);
  await closeDb?.();
  await nats?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await database.admin("truncate storage.world_backups, storage.offsite_confirmations cascade");
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
});

async function anArchive(files: Record<string, string>): Promise<Buffer> {
  const path = mkdtempSync(join(tmpdir(), "svc-offsite-world-"));
  try {
    writeFiles(path, files);
    await using world = await Folder.openRoot(path);
    const chunks: Buffer[] = [];
    const keep = async (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk));
    await writeArchive(world, { compression: "zstd", write: keep });
    return Buffer.concat(chunks);
  } finally {
    rmSync(path, { recursive: true });
  }
}

const nameOf = (id: string) => `survival-${id.slice(3)}.tar.zst`;

async function add(id: string, about: Partial<BackupRow> = {}): Promise<void> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const row = { id, server_name: "survival", backup_ref: join(folder, nameOf(id)), size_bytes: bytes.length };
  const times = { created_at: now, expires_at: new Date(now.getTime() + 86_400_000) };
  await db
    .insertInto("world_backups")
    .values({ ...row, ...times, reason: "manual", sha256, ...about })
    .execute();
}
const put = (id: string, content: Buffer = bytes) => writeFileSync(join(folder, nameOf(id)), content);
const list = async () => (await watchdog.call(contracts.listArchives, {})).items;
const rowOf = (id: string) =>
  db.selectFrom("world_backups").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

describe("the list of archives", () => {
  test("says of each backup whether its file is here, and leaves out what nothing is left of", async () => {
    await add("bk-1");
    put("bk-1");
    await add("bk-2");
    await add("bk-3", { status: "expired" });
    put("bk-3", Buffer.from("half"));
    await add("bk-4", { status: "deleted", offsite_at: now });
    await add("bk-5", { status: "deleted" });
    const found = (await list()).map(({ id, status, local }) => [id, status, local]);
    assert.deepEqual(found, [
      ["bk-1", "present", "whole"],
      ["bk-2", "present", "missing"],
      ["bk-3", "expired", "other_size"],
      ["bk-4", "deleted", "missing"],
    ]);
  });

  test("comes in pages", async () => {
    await database.admin(`insert into storage.world_backups
      (id, server_name, backup_ref, size_bytes, reason, expires_at, sha256)
      select 'bk-' || lpad(i::text, 5, '0'), 'survival', '/archive/survival-' || i || '.tar.zst', 1, 'manual',
        now() + interval '1 day', repeat('0', 64) from generate_series(1, 1500) i`);
    const first = await watchdog.call(contracts.listArchives, {});
    const second = await watchdog.call(contracts.listArchives, { cursor: first.next });
    assert.deepEqual([first.items.length, second.items.length, second.next], [1_000, 500, undefined]);
    assert.equal(first.longest_retention_seconds, 90 * 86_400);
  });
});

async function read(id: string): Promise<Buffer> {
  const { byteTransfer } = await watchdog.forward(contracts.readArchive, { id });
  assert.ok(byteTransfer);
  const { body } = await fetchBytes(byteTransfer);
  return Buffer.concat(await body.toArray());
}

async function write(id: string, content: Buffer): Promise<void> {
  const { byteTransfer } = await watchdog.forward(contracts.writeArchive, { id });
  assert.ok(byteTransfer);
  const chunks = (async function* () {
    yield content;
  })();
  await sendBytes(byteTransfer, chunks, { contentLength: content.length });
}

const refused = (fault: string) => (error: unknown) => isFault(error) && error.fault === fault;

describe("bytes of an archive", () => {
  test("leave as they are, and come back to where they were", async () => {
    await add("bk-1");
    put("bk-1");
    assert.ok((await read("bk-1")).equals(bytes));
    rmSync(join(folder, nameOf("bk-1")));
    await write("bk-1", bytes);
    assert.ok(readFileSync(join(folder, nameOf("bk-1"))).equals(bytes));
    assert.ok((await rowOf("bk-1")).verified_at);
  });

  test("replace a damaged file, and the backup can be restored again", async () => {
    await add("bk-1", { corrupt_at: now });
    put("bk-1", bytes.subarray(0, 100));
    await write("bk-1", bytes);
    assert.ok(readFileSync(join(folder, nameOf("bk-1"))).equals(bytes));
    assert.equal((await rowOf("bk-1")).corrupt_at, null);
  });

  test("of another world are not stored, and the file in the place stays", async () => {
    const other = await anArchive({ "level.dat": "another world" });
    await add("bk-1");
    put("bk-1", bytes.subarray(0, 100));
    await assert.rejects(write("bk-1", other), refused("digest_mismatch"));
    assert.equal(readFileSync(join(folder, nameOf("bk-1"))).length, 100);
    assert.equal(existsSync(join(folder, `.${nameOf("bk-1")}.partial`)), false);
  });

  test("are neither sent nor taken for a backup that is expired or unknown", async () => {
    await add("bk-1", { status: "expired" });
    put("bk-1");
    for (const id of ["bk-1", "bk-9"]) {
      await assert.rejects(read(id), refused("no_backup"));
      await assert.rejects(write(id, bytes), refused("no_backup"));
    }
  });

  test("that are missing are backup_corrupt", async () => {
    await add("bk-1");
    await assert.rejects(read("bk-1"), refused("backup_corrupt"));
  });
});

describe("chunks of a deduplicated archive", () => {
  /** A backup that is here as chunks; the packs that it names. */
  async function addChunks(id: string): Promise<{ name: string; size: number }[]> {
    const path = mkdtempSync(join(tmpdir(), "svc-offsite-world-"));
    try {
      writeFiles(path, { "level.dat": id, "region/r.0.0.mca": "chunks ".repeat(10_000) });
      await using world = await Folder.openRoot(path);
      await using store = await Folder.openRoot(folder);
      const plan = { world, store, name: nameOf(id), keepFree: 0, compression: "zstd" as const };
      const { sizeBytes, sha256 } = await storeDeduplicated(plan);
      await add(id, { size_bytes: sizeBytes, sha256 });
      return [...(await readManifestHead(store, nameOf(id))).packs];
    } finally {
      rmSync(path, { recursive: true });
    }
  }
  const readPart = async (input: { id: string; pack?: string }) => {
    const { byteTransfer } = await watchdog.forward(contracts.readChunks, input);
    assert.ok(byteTransfer);
    const { body } = await fetchBytes(byteTransfer);
    return Buffer.concat(await body.toArray());
  };

  test("are listed as such, and leave as they are", async () => {
    const packs = await addChunks("bk-1");
    await add("bk-2");
    put("bk-2");
    const listed = (await list()).map(({ id, local, is_deduplicated }) => [id, local, is_deduplicated]);
    assert.deepEqual(listed, [
      ["bk-1", "whole", true],
      ["bk-2", "whole", undefined],
    ]);
    const onDisk = (name: string) => readFileSync(join(folder, name));
    assert.ok((await readPart({ id: "bk-1" })).equals(onDisk(manifestNameOf(nameOf("bk-1")))));
    assert.ok(packs.length > 0);
    for (const { name: pack } of packs)
      assert.ok((await readPart({ id: "bk-1", pack })).equals(onDisk(pack)), pack);
  });

  test("of a whole archive, of another one, and those that are gone are backup_corrupt", async () => {
    const [{ name: pack } = { name: "" }] = await addChunks("bk-1");
    await add("bk-2");
    put("bk-2");
    for (const input of [{ id: "bk-2" }, { id: "bk-2", pack }, { id: "bk-1", pack: "../bk-1" }])
      await assert.rejects(readPart(input), refused("backup_corrupt"), JSON.stringify(input));
    writeFileSync(join(folder, pack), "short");
    await assert.rejects(readPart({ id: "bk-1", pack }), refused("backup_corrupt"));
    rmSync(join(folder, pack));
    await assert.rejects(readPart({ id: "bk-1", pack }), refused("backup_corrupt"));
    writeFileSync(join(folder, manifestNameOf(nameOf("bk-1"))), "another one");
    await assert.rejects(readPart({ id: "bk-1", pack }), refused("backup_corrupt"));
  });

  test("are not sent for a backup that is expired or unknown", async () => {
    await addChunks("bk-1");
    await db.updateTable("world_backups").set({ status: "expired" }).execute();
    for (const id of ["bk-1", "bk-9"]) await assert.rejects(readPart({ id }), refused("no_backup"));
  });
});

describe("recorded copies", () => {
  test("are recorded for the digest that was copied, and removed", async () => {
    await add("bk-1");
    const { sha256 } = await rowOf("bk-1");
    const at = "2026-11-22T12:00:00.000Z";
    const wrong = { id: "bk-1", sha256: "1".repeat(64), at };
    assert.deepEqual(await watchdog.call(contracts.recordCopies, { copies: [wrong] }), { recorded: 0 });
    for (const _ of [1, 2]) {
      const answer = await watchdog.call(contracts.recordCopies, { copies: [{ id: "bk-1", sha256, at }] });
      assert.deepEqual(answer, { recorded: 1 });
      assert.equal((await rowOf("bk-1")).offsite_at?.toISOString(), at);
    }
    await watchdog.call(contracts.recordCopies, { copies: [{ id: "bk-1", sha256, at: null }] });
    assert.equal((await rowOf("bk-1")).offsite_at, null);
  });

  test("are confirmed by the newest listing of the bucket", async () => {
    for (const listed_at of ["2026-11-22T12:00:00Z", "2026-11-22T11:00:00Z"])
      await watchdog.call(contracts.confirmCopies, { listed_at });
    const { listed_at } = await db
      .selectFrom("offsite_confirmations")
      .select("listed_at")
      .executeTakeFirstOrThrow();
    assert.equal(listed_at.toISOString(), "2026-11-22T12:00:00.000Z");
  });
});
