// Files with holes, on the real file system: what is not data is neither read nor written, and is a hole again afterwards.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isWorldFault } from "../fault.ts";
import { openDownload, sendFolder, sendWorld } from "../files/send.ts";
import { Folder } from "../path/folder.ts";
import { apart } from "../restore/compare.ts";
import { isSameWorld } from "../restore/is-same-world.ts";
import { restorePaths } from "../restore/partial-restore.ts";
import { restoreWorld } from "../restore/restore.ts";
import { paxRecord } from "../testing/tar.ts";
import { openArchive } from "./open.ts";
import { encodeMap } from "./sparse.ts";
import { storeArchive } from "./store.ts";
import { applyPax } from "./tar-header.ts";
import { verifyArchive } from "./verify.ts";
import { writeArchive } from "./write.ts";

const gib = 2 ** 30;
const tib = 2 ** 40;
/** Bytes that may be read or written beside the data. */
const beside = 64 << 20;
let base: string;
const at = (...names: string[]) => join(base, ...names);

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-sparse-"));
  await mkdir(at("store"));
});
after(() => rm(base, { recursive: true }));

type Piece = readonly [place: number, text: string];

/** A file of a length with a few pieces of data in it. */
async function makeSparse(path: string, size: number, pieces: readonly Piece[] = []): Promise<void> {
  await using file = await open(path, "wx");
  await file.truncate(size);
  for (const [place, text] of pieces) await file.write(text, place);
  await file.sync();
}

async function assertSparse(path: string, size: number, pieces: readonly Piece[]): Promise<void> {
  const { size: found, blocks } = await stat(path);
  assert.equal(found, size);
  assert.ok(blocks * 512 <= pieces.length * (128 << 10), `${blocks} blocks of ${path}`);
  await using file = await open(path);
  for (const [place, text] of pieces) {
    const { buffer } = await file.read(
      Buffer.alloc(text.length + 2),
      0,
      text.length + 2,
      Math.max(0, place - 1),
    );
    assert.equal(buffer.toString("latin1").replaceAll("\0", ""), text);
  }
}

/** Bytes that this process has read and written, from the page cache too. */
function moved(): number {
  const text = readFileSync("/proc/self/io", "latin1");
  return [...text.matchAll(/^[rw]char: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

const pieces: Piece[] = [
  [5_000, "near the start"],
  [1_500_000_000, "in the middle"],
  [3 * gib - 4, "last"],
];

for (const name of ["alpha-1.tar.zst", "alpha-1.tar.gz"]) {
  describe(`files with holes in a ${name.slice(8)}`, () => {
    let world: Folder;
    let store: Folder;
    let sha256: string;
    before(async () => {
      await mkdir(at("world"));
      await makeSparse(at("world", "a-3g.dat"), 3 * gib, pieces);
      await makeSparse(at("world", "b-empty.dat"), 3 * gib);
      await makeSparse(at("world", "c-15t.dat"), 15 * tib, [[14 * tib, "far away"]]);
      await makeSparse(at("world", `${"n".repeat(250)}.dat`), 2 * gib, [[gib, "a long name"]]);
      await writeFile(at("world", "z.txt"), "plain");
      world = await Folder.openRoot(at("world"));
      store = await Folder.openRoot(at("store"));
    });
    after(async () => {
      await world.close();
      await store.close();
      for (const folder of ["world", "restored", "selected"]) await rm(at(folder), { recursive: true });
    });

    test("a backup reads the data and nothing else, and its room is asked by it", async () => {
      const start = moved();
      const kept = await storeArchive({ world, store, name, keepFree: 0 });
      ({ sha256 } = kept);
      assert.ok(moved() - start < beside, `${moved() - start} bytes were moved`);
      assert.deepEqual([kept.entries, kept.skipped], [5, 0]);
      assert.equal(kept.bytes, 3 * gib + 3 * gib + 15 * tib + 2 * gib + 5);
      assert.ok(kept.stored < 1 << 20, `${kept.stored} bytes are stored`);
    });

    test("a restore gives holes back as holes, and compares only data", async () => {
      await mkdir(at("restored"));
      await using fresh = await Folder.openRoot(at("restored"));
      await using archive = await open(at("store", name));
      const start = moved();
      const { bytes } = await restoreWorld({ world: fresh, archive, sha256, compare: true });
      assert.ok(moved() - start < beside, `${moved() - start} bytes were moved`);
      assert.equal(bytes, 23 * gib - 15 * gib + 15 * tib + 5);
      await assertSparse(at("restored", "a-3g.dat"), 3 * gib, pieces);
      await assertSparse(at("restored", "b-empty.dat"), 3 * gib, []);
      await assertSparse(at("restored", "c-15t.dat"), 15 * tib, [[14 * tib, "far away"]]);
      const held = await verifyArchive(await openArchive(archive));
      assert.equal(await isSameWorld(fresh, await openArchive(archive), held), true);
      // Over itself, where the old files are there too.
      await restoreWorld({ world: fresh, archive, sha256 });
      await assertSparse(at("restored", "a-3g.dat"), 3 * gib, pieces);
    });

    test("data where the archive has a hole is a difference, zeros are none", async () => {
      await using fresh = await Folder.openRoot(at("restored"));
      await using archive = await open(at("store", name));
      const held = await verifyArchive(await openArchive(archive));
      const put = async (text: string) => {
        await using file = await open(at("restored", "b-empty.dat"), "r+");
        await file.write(text, 2 * gib);
      };
      await put("\0".repeat(5_000));
      assert.equal(await isSameWorld(fresh, await openArchive(archive), held), true);
      await put("x");
      assert.equal(await isSameWorld(fresh, await openArchive(archive), held), false);
    });

    test("single files come back with their holes", async () => {
      await mkdir(at("selected"));
      await using fresh = await Folder.openRoot(at("selected"));
      await using archive = await open(at("store", name));
      await restorePaths({ world: fresh, archive, sha256, only: ["a-3g.dat", "z.txt"] });
      await assertSparse(at("selected", "a-3g.dat"), 3 * gib, pieces);
    });

    test("tar itself reads the archive", { skip: name.endsWith(".gz") }, async () => {
      const list = `zstd -dc ${name} | tar -tv`;
      const listed = execFileSync("sh", ["-c", list], { cwd: at("store"), encoding: "utf8" });
      assert.match(listed, new RegExp(`${3 * gib} .* a-3g\\.dat`));
      await mkdir(at("bare"));
      const one = `zstd -dc store/${name} | tar -x -C bare a-3g.dat z.txt`;
      execFileSync("sh", ["-c", one], { cwd: base });
      await assertSparse(at("bare", "a-3g.dat"), 3 * gib, pieces);
    });
  });
}

test("room for a restore is asked by data: 3 GiB of holes fit a volume of 8 MiB", {
  skip: process.getuid?.() !== 0,
}, async () => {
  await mkdir(at("full"));
  await makeSparse(at("full", "a.dat"), 3 * gib, [[gib, "data"]]);
  await using full = await Folder.openRoot(at("full"));
  await using store = await Folder.openRoot(at("store"));
  const { sha256 } = await storeArchive({ world: full, store, name: "beta-1.tar.zst", keepFree: 0 });
  await mkdir(at("small"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", at("small")]);
  try {
    await using small = await Folder.openRoot(at("small"));
    await using archive = await open(at("store", "beta-1.tar.zst"));
    await restoreWorld({ world: small, archive, sha256 });
    await restoreWorld({ world: small, archive, sha256 });
    await assertSparse(at("small", "a.dat"), 3 * gib, [[gib, "data"]]);
  } finally {
    execFileSync("umount", [at("small")]);
  }
});

test("where nothing keeps holes, a file of 15 TiB of them is left out of a zip and named, and not sent alone", async () => {
  await mkdir(at("zip", "in"), { recursive: true });
  await makeSparse(at("zip", "in", "huge.dat"), 15 * tib);
  await writeFile(at("zip", "in", "small.dat"), "small");
  await using world = await Folder.openRoot(at("zip"));
  const { skipped, skippedNames } = await sendFolder(world, "in", { write: async () => undefined });
  assert.equal(skipped, 1);
  assert.match(skippedNames[0] ?? "", /^huge\.dat \(it is nearly all holes/);
  await assert.rejects(openDownload(world, "in/huge.dat"), (error) => isWorldFault(error, "too_large"));
});

test("a server.properties of terabytes is not read to mask it: it does not leave, and keeps nothing else back", async () => {
  await mkdir(at("props"));
  await makeSparse(at("props", "server.properties"), 3 * tib, [[0, "rcon.password=hush"]]);
  await writeFile(at("props", "z.txt"), "z");
  await using world = await Folder.openRoot(at("props"));
  const start = moved();
  await sendWorld(world, { compression: "gzip", write: async () => undefined });
  await assert.rejects(openDownload(world, "server.properties"), (error) => isWorldFault(error, "too_large"));
  assert.ok(moved() - start < beside, `${moved() - start} bytes were moved`);
});

test("a file with room on the disk and no holes is an entry like any other", async () => {
  await mkdir(at("dense"));
  await writeFile(at("dense", "a.dat"), Buffer.alloc(4 << 20));
  await using world = await Folder.openRoot(at("dense"));
  const { stored, bytes } = await writeArchive(world, { compression: "gzip", write: async () => undefined });
  assert.deepEqual([stored, bytes], [4 << 20, 4 << 20]);
  await truncate(at("dense", "a.dat"), (4 << 20) + 10_000);
  const more = await writeArchive(world, { compression: "gzip", write: async () => undefined });
  assert.equal(more.stored, more.bytes, "a hole of a few KiB is not worth a map");
});

describe("maps", () => {
  const header = { path: "x", type: "0", mode: 0o644, mtimeMs: 0, size: 512 };
  test("end with the length of the file, in whole blocks", () => {
    const map = encodeMap([{ at: 4_096, length: 10 }], 8_192).toString("latin1");
    assert.equal(map.replace(/\0+$/, ""), "2\n4096\n10\n8192\n0\n");
    assert.equal(map.length, 512);
  });

  test("of older versions, and those that contradict themselves, are refused", () => {
    for (const records of [
      { "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.realsize": "5" },
      { "GNU.sparse.major": "1", "GNU.sparse.minor": "0" },
      { "GNU.sparse.realsize": "5" },
      { "GNU.sparse.size": "5", "GNU.sparse.numblocks": "1" },
    ]) {
      const text = Buffer.concat(Object.entries(records).map(([key, value]) => paxRecord(key, value)));
      assert.throws(
        () => applyPax(text, header),
        (error) => isWorldFault(error, "backup_corrupt"),
      );
    }
  });

  test("what of some stretches lies in no other", () => {
    const stretch = (at: number, end: number) => ({ at, length: end - at });
    assert.deepEqual(apart([stretch(0, 10), stretch(20, 30)], []), [stretch(0, 10), stretch(20, 30)]);
    assert.deepEqual(apart([stretch(0, 30)], [stretch(5, 10), stretch(20, 40)]), [
      stretch(0, 5),
      stretch(10, 20),
    ]);
    assert.deepEqual(apart([stretch(5, 8), stretch(9, 12)], [stretch(0, 10)]), [stretch(10, 12)]);
  });
});
