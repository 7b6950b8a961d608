import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openStored } from "../chunks/open-stored.ts";
import { storeDeduplicated } from "../chunks/store.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { browseArchive, restorePaths } from "../restore/partial-restore.ts";
import { restoreWorld } from "../restore/restore.ts";
import { withDigests } from "../testing/digests.ts";
import { treeOf } from "../testing/tree.ts";
import { createDigestWriter, readDigests } from "./digests.ts";
import { readIndex } from "./index-frame.ts";
import { openArchive } from "./open.ts";
import { storeArchive } from "./store.ts";
import { verifyArchive } from "./verify.ts";

let base: string;
let world: Folder;
let store: Folder;
const at = (...names: string[]) => join(base, ...names);
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest();
const name = "alpha-1.tar.zst";

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-digests-"));
  await mkdir(at("world", "region"), { recursive: true });
  await mkdir(at("store"));
  await writeFile(at("world", "empty"), "");
  await writeFile(at("world", "level.dat"), "level");
  // More than the buffer that is read at once.
  await writeFile(at("world", "region", "large"), randomBytes(9 << 20));
  await writeFile(at("world", "region", "middle"), randomBytes(300_000));
  await writeFile(at("world", "sparse"), "data");
  await truncate(at("world", "sparse"), 64 << 20);
  world = await Folder.openRoot(at("world"));
  store = await Folder.openRoot(at("store"));
  await storeArchive({ world, store, name, keepFree: 0, fileDigests: true });
});
after(async () => {
  await world.close();
  await store.close();
  await rm(base, { recursive: true });
});

async function digestsOf(path: string): Promise<Map<string, string | undefined>> {
  await using file = await open(path);
  const { seek } = await openArchive(file);
  assert.ok(seek);
  const found = new Map<string, string | undefined>();
  for await (const { path: entry, digest } of readIndex(await seek.index()))
    found.set(entry, digest?.toString("hex"));
  return found;
}

/** The archive with other digests in its index, and the digest of the whole as it then is. */
async function changed(change: (digests: Buffer) => Buffer | undefined) {
  const packed = withDigests(await readFile(at("store", name)), change);
  await writeFile(at("archive"), packed);
  return sha256(packed).toString("hex");
}

const flipped = (index: number) => (digests: Buffer) => {
  const other = Buffer.from(digests);
  other.writeUInt8(other.readUInt8(index * 32) ^ 1, index * 32);
  return other;
};

describe("the index of an archive", () => {
  test("has the digest of each file, and none of a folder or a file with holes", async () => {
    const found = await digestsOf(at("store", name));
    assert.deepEqual(
      [...found.keys()],
      ["empty", "level.dat", "region", "region/large", "region/middle", "sparse"],
    );
    for (const file of ["empty", "level.dat", "region/large", "region/middle"])
      assert.equal(found.get(file), sha256(await readFile(at("world", file))).toString("hex"), file);
    assert.equal(found.get("region"), undefined);
    assert.equal(found.get("sparse"), undefined);
  });

  test("has them in a deduplicated archive too, and the second one stores none of them again", async () => {
    await mkdir(at("chunks"));
    await using chunks = await Folder.openRoot(at("chunks"));
    await storeDeduplicated({ world, store: chunks, name, keepFree: 0, fileDigests: true });
    const { addedBytes } = await storeDeduplicated({
      world,
      store: chunks,
      name: "alpha-2.tar.zst",
      keepFree: 0,
      fileDigests: true,
    });
    assert.ok(addedBytes < 16_384, `${addedBytes}`);
    await using file = await openStored(chunks, "alpha-2.tar.zst");
    const { seek } = await openArchive(file);
    assert.ok(seek);
    const found = new Map<string, Buffer | undefined>();
    for await (const { path, digest } of readIndex(await seek.index())) found.set(path, digest);
    assert.deepEqual(found.get("region/large"), sha256(await readFile(at("world", "region", "large"))));
  });

  test("gives them to who lists a folder of the archive", async () => {
    await using file = await open(at("store", name));
    const { listing } = await browseArchive(await openArchive(file), { path: "", most: 10 });
    const level = sha256(Buffer.from("level")).toString("hex");
    assert.deepEqual(
      listing.map((entry) => [entry.name, entry.sha256]),
      [
        ["empty", sha256(Buffer.alloc(0)).toString("hex")],
        ["level.dat", level],
        ["region", undefined],
        ["sparse", undefined],
      ],
    );
  });

  test("an archive of an earlier release has none, verifies and is restored", async () => {
    const whole = await changed(() => undefined);
    assert.deepEqual([...new Set((await digestsOf(at("archive"))).values())], [undefined]);
    await using file = await open(at("archive"));
    const { entries } = await verifyArchive(await openArchive(file), { sha256: whole });
    assert.equal(entries, 6);
    await mkdir(at("again"));
    await using again = await Folder.openRoot(at("again"));
    await restoreWorld({ world: again, archive: file, sha256: whole, compare: true });
    assert.deepEqual(await treeOf(again), await treeOf(world));
    await writeFile(at("again", "level.dat"), "newer");
    await restorePaths({ world: again, archive: file, sha256: whole, only: ["level.dat"] });
    assert.deepEqual(await treeOf(again), await treeOf(world));
  });
});

test("of more files than one slice of the list holds, a deduplicated archive has all", async () => {
  await mkdir(at("many"));
  for (let index = 0; index < 300; index += 1)
    await writeFile(at("many", `${index}`.padStart(4, "0")), `${index}`);
  await mkdir(at("many-chunks"));
  await using many = await Folder.openRoot(at("many"));
  await using chunks = await Folder.openRoot(at("many-chunks"));
  await storeDeduplicated({ world: many, store: chunks, name, keepFree: 0, fileDigests: true });
  await using file = await openStored(chunks, name);
  const { seek } = await openArchive(file);
  assert.ok(seek);
  for await (const { path, digest } of readIndex(await seek.index()))
    assert.deepEqual(digest, sha256(Buffer.from(`${Number(path)}`)), path);
});

describe("a wrong digest in the index", () => {
  const table: [fact: string, change: (digests: Buffer) => Buffer, message: RegExp][] = [
    ["of a small file names it", flipped(1), /damaged: level\.dat differs from its digest/],
    ["of a large file names it", flipped(2), /damaged: region\/large differs from its digest/],
    ["of an empty file names it", flipped(0), /damaged: empty differs from its digest/],
    ["too few of them are damage", (digests) => digests.subarray(32), /differs|fewer digests than files/],
    ["none of them are damage", () => Buffer.alloc(0), /fewer digests than files/],
    ["a torn one is damage", (digests) => digests.subarray(0, -1), /fewer digests than files/],
    [
      "too many of them are damage",
      (digests) => Buffer.concat([digests, Buffer.alloc(32)]),
      /more digests than files/,
    ],
  ];
  for (const [fact, change, message] of table) {
    test(`${fact}, in a verification and in a restore that compares`, async () => {
      const whole = await changed(change);
      await using file = await open(at("archive"));
      const isFound = (error: unknown) => {
        assert.ok(isWorldFault(error, "backup_corrupt"), String(error));
        assert.match(error.message, message);
        return true;
      };
      await assert.rejects(verifyArchive(await openArchive(file), { sha256: whole }), isFound);
      const old = await treeOf(world, { withHidden: true });
      await assert.rejects(restoreWorld({ world, archive: file, sha256: whole, compare: true }), isFound);
      assert.deepEqual(await treeOf(world, { withHidden: true }), old);
    });
  }

  test("of a file that is put back by itself refuses, and the world is unchanged", async () => {
    const whole = await changed(flipped(1));
    await using file = await open(at("archive"));
    await writeFile(at("world", "level.dat"), "newer");
    const restoring = restorePaths({ world, archive: file, sha256: whole, only: ["level.dat"] });
    await assert.rejects(restoring, /level\.dat differs from its digest in the index\. .*unchanged/);
    assert.equal(await readFile(at("world", "level.dat"), "utf8"), "newer");
    await restorePaths({ world, archive: file, sha256: whole, only: ["region/middle"] });
    await writeFile(at("world", "level.dat"), "level");
  });
});

test("more digests than one block holds come in order", () => {
  const digests = Array.from({ length: 5_000 }, (_, index) => sha256(Buffer.from(`${index}`)));
  const writer = createDigestWriter();
  for (const digest of digests) writer.add(digest);
  writer.add(undefined);
  const reader = readDigests(writer.finish());
  for (const digest of digests) assert.deepEqual(reader.next(), digest);
  assert.equal(reader.next(), undefined);
  reader.end();
  assert.throws(() => reader.next(), /fewer digests/);
});
