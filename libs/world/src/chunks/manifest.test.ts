import assert from "node:assert/strict";
import { hash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { ChunkList } from "./chunk-list.ts";
import { encodeManifest, type Manifest, readManifest, readManifestHead } from "./manifest.ts";
import { parseStoreName } from "./names.ts";

const archive = "alpha-1.tar.zst";
const packs = [1, 2].map((digit) => ({ name: `alpha-${`${digit}`.repeat(32)}.pack`, size: 1_000 }));
let root: string;
let folder: Folder;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-manifest-"));
  folder = await Folder.openRoot(root);
});
after(async () => {
  await folder?.close();
  await rm(root, { recursive: true });
});

function manifest(change: Partial<Manifest> = {}): Manifest {
  const chunks = new ChunkList();
  for (let number = 0; number < 4; number += 1)
    chunks.add(hash("sha256", `${number}`, "buffer"), { pack: number % 2, at: number * 10, length: 25 });
  return { archive, size: 100, sha256: "a".repeat(64), packs, chunks, ...change };
}

const write = (bytes: Buffer) => writeFile(join(root, `${archive}.chunks`), bytes);
const isCorrupt = (error: unknown) => isWorldFault(error, "backup_corrupt");

test("a manifest is read as it was written, and its packs without its chunks", async () => {
  await write(encodeManifest(manifest()));
  const { chunks, ...about } = await readManifest(folder, archive);
  const { chunks: _, ...wanted } = manifest();
  assert.deepEqual(about, wanted);
  assert.deepEqual(chunks.placeOf(3), { pack: 1, at: 30, length: 25 });
  assert.deepEqual(await readManifestHead(folder, archive), { ...wanted, isCut: false });
});

test("the packs of a manifest with thousands of them are found", async () => {
  const many = Array.from({ length: 5_000 }, () => ({
    name: `alpha-${randomBytes(16).toString("hex")}.pack`,
    size: 1_000,
  }));
  await write(encodeManifest(manifest({ packs: many })));
  assert.deepEqual((await readManifestHead(folder, archive)).packs, many);
});

test("whichever byte is another one, the manifest is damaged, and its packs are never other ones", async () => {
  const good = encodeManifest(manifest());
  for (let at = 0; at < good.length; at += 3) {
    const bad = Buffer.from(good);
    bad.writeUInt8(bad.readUInt8(at) ^ 1, at);
    await write(bad);
    await assert.rejects(readManifest(folder, archive), isCorrupt, `byte ${at}`);
    const head = await readManifestHead(folder, archive).catch((error: unknown) => {
      assert.ok(isCorrupt(error), `byte ${at}: ${error}`);
    });
    if (head) assert.deepEqual(head.packs, packs, `byte ${at}`);
  }
});

test("wherever it is cut, the manifest is damaged, and its head says so", async () => {
  const good = encodeManifest(manifest());
  for (let length = 0; length < good.length; length += 3) {
    await write(good.subarray(0, length));
    await assert.rejects(readManifest(folder, archive), isCorrupt, `${length} bytes`);
    const head = await readManifestHead(folder, archive).catch((error: unknown) => {
      assert.ok(isCorrupt(error), `${length} bytes: ${error}`);
    });
    assert.ok(head?.isCut ?? true, `${length} bytes`);
  }
});

test("one that contradicts itself or is of another archive or server is refused", async () => {
  const beyond = new ChunkList();
  beyond.add(Buffer.alloc(32), { pack: 0, at: 990, length: 100 });
  const nowhere = new ChunkList();
  nowhere.add(Buffer.alloc(32), { pack: 2, at: 0, length: 100 });
  const foreign = [{ name: `beta-${"1".repeat(32)}.pack`, size: 1_000 }, ...packs.slice(1)];
  for (const change of [
    { chunks: beyond },
    { chunks: nowhere },
    { size: 101 },
    { packs: foreign },
    { archive: "alpha-2.tar.zst" },
  ]) {
    await write(encodeManifest(manifest(change)));
    await assert.rejects(readManifest(folder, archive), isCorrupt, JSON.stringify(change));
  }
});

test("a release without deduplication deletes by these patterns, and they match nothing of ours", () => {
  const older = [/^[a-z0-9-]+-(\d+)\.tar\.(zst|gz)$/, /^\.[a-z0-9-]+-\d+\.tar\.(zst|gz)\.partial$/];
  const pack = packs[0]?.name ?? "";
  for (const [name, kind] of [
    [`${archive}.chunks`, "manifest"],
    [`.${archive}.0123456789abcdef.chunks.partial`, "lease"],
    [pack, "pack"],
    [`${pack}.retired`, "retired"],
  ] as const) {
    assert.deepEqual(parseStoreName(name)?.kind, kind);
    assert.equal(parseStoreName(name)?.server, "alpha");
    for (const pattern of older) assert.doesNotMatch(name, pattern);
  }
});
