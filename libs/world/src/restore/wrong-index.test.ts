import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import type { TaskFault } from "@svc/proto/world-task";
import { openArchive } from "../archive/open.ts";
import { encodeListFrame, encodeSeekTable } from "../archive/seek-table.ts";
import { verifyArchive } from "../archive/verify.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { type MadeTar, makeTar } from "../testing/tar.ts";
import { treeOf } from "../testing/tree.ts";
import { restoreWorld } from "./restore.ts";

let base: string;
let world: Folder;
const at = (...names: string[]) => join(base, ...names);

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-lies-"));
  await mkdir(at("world", "kept"), { recursive: true });
  await writeFile(at("world", "kept", "file"), "kept");
  world = await Folder.openRoot(at("world"));
});
after(async () => {
  await world.close();
  await rm(base, { recursive: true });
});

type Line = [path: string, isFolder: 0 | 1, mode: number, mtimeMs: number, size: number, headerAt: number];

const content = Buffer.alloc(300_000, "x");
const held: MadeTar[] = [
  { path: "ok", content: "ok" },
  { path: "dir/", type: "5" },
  { path: "dir/big", content },
];
const truth: readonly [Line, Line, Line] = [
  ["ok", 0, 0o644, 0, 2, 0],
  ["dir", 1, 0o644, 0, 0, 1_024],
  ["dir/big", 0, 0o644, 0, content.length, 1_536],
];
const [first, folder, big] = truth;

/** An archive as ours are, with whatever index. */
function archiveOf(tar: Buffer, index: Buffer): Buffer {
  const frame = zstdCompressSync(tar);
  const indexFrame = encodeListFrame("index", index);
  const table = [
    { packed: frame.length, plain: tar.length },
    { packed: indexFrame.length, plain: 0 },
  ];
  return Buffer.concat([frame, indexFrame, encodeSeekTable(table)]);
}

function partOf(text: string, about: { packed?: number; plain?: number } = {}): Buffer {
  const packed = zstdCompressSync(text);
  const head = Buffer.alloc(8);
  head.writeUInt32LE(about.packed ?? packed.length, 0);
  head.writeUInt32LE(about.plain ?? Buffer.byteLength(text), 4);
  return Buffer.concat([head, packed]);
}

const linesOf = (lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const listing = (...lines: unknown[]) => partOf(linesOf(lines));

async function restore(packed: Buffer, sha256 = createHash("sha256").update(packed).digest("hex")) {
  await writeFile(at("archive"), packed);
  await using archive = await open(at("archive"));
  return await restoreWorld({ world, archive, sha256 });
}

async function verify(packed: Buffer) {
  await writeFile(at("archive"), packed);
  await using archive = await open(at("archive"));
  return await verifyArchive(await openArchive(archive));
}

describe("an archive that no restore would take does not read back", () => {
  const table: [fact: string, code: TaskFault["code"], index: Buffer, tar?: MadeTar[]][] = [
    ["an index with another name", "backup_corrupt", listing(first, folder, ["dir/other", ...big.slice(1)])],
    ["an index with an entry less", "backup_corrupt", listing(first, folder)],
    ["an index with an entry more", "backup_corrupt", listing(...truth, ["more", 0, 0o644, 0, 0, 302_080])],
    ["garbage for an index", "backup_corrupt", Buffer.alloc(64, 7)],
    ["a name twice", "archive_invalid", listing(first, first), [held[0] as MadeTar, held[0] as MadeTar]],
    [
      "a file with entries in it",
      "type_conflict",
      listing(["a", 0, 0o644, 0, 0, 0]),
      [{ path: "a" }, { path: "a/b" }],
    ],
  ];
  for (const [fact, code, index, tar = held] of table) {
    test(`${fact} is ${code}`, () =>
      assert.rejects(verify(archiveOf(makeTar(tar), index)), (error) => isWorldFault(error, code)));
  }
});

describe("an archive with a wrong index is rejected, and the world is unchanged", () => {
  const table: [fact: string, code: TaskFault["code"], index: Buffer, tar?: MadeTar[]][] = [
    ["another name", "backup_corrupt", listing(first, folder, ["dir/other", ...big.slice(1)])],
    ["a smaller size", "backup_corrupt", listing(first, folder, [...big.slice(0, 4), 10, 1_536])],
    ["a larger size", "backup_corrupt", listing(first, folder, [...big.slice(0, 4), 300_001, 1_536])],
    ["a folder for a file", "backup_corrupt", listing(["ok", 1, 0o644, 0, 0, 0], folder, big)],
    ["an entry less", "backup_corrupt", listing(first, folder)],
    ["an entry more", "backup_corrupt", listing(...truth, ["more", 0, 0o644, 0, 0, 302_080])],
    ["another order", "backup_corrupt", listing(folder, big, first)],
    ["nothing", "backup_corrupt", Buffer.alloc(0)],
    ["no lines", "backup_corrupt", partOf("no index at all\n")],
    ["lines of another shape", "backup_corrupt", listing({ path: "ok" }, ["ok"], [1, 2, 3, 4, 5, 6])],
    ["a part that is longer than it", "backup_corrupt", partOf(linesOf(truth), { packed: 1 << 30 })],
    ["a part without end", "backup_corrupt", partOf(linesOf(truth), { plain: 0xffffffff })],
    ["a part that is larger than it says", "backup_corrupt", partOf(linesOf(truth), { plain: 10 })],
    ["garbage", "backup_corrupt", Buffer.alloc(64, 7)],
    ["a path that goes up", "archive_unsafe", listing(["../evil", 0, 0o644, 0, 2, 0])],
    ["a path that is hidden", "archive_unsafe", listing([".svc-restore-1/plan", 0, 0o644, 0, 2, 0])],
    ["a path that is not in order", "backup_corrupt", listing(["./ok", 0, 0o644, 0, 2, 0], folder, big)],
    ["a name twice", "archive_invalid", listing(first, first, folder, big)],
    ["a file with entries in it", "type_conflict", listing(["dir", 0, 0o644, 0, 2, 0], big)],
    ["more than the volume holds", "volume_full", listing(["ok", 0, 0o644, 0, 2 ** 45, 0])],
    ["nothing of a path that goes up", "archive_unsafe", listing(first), [{ path: "../evil" }]],
    ["nothing of a link", "archive_symlink", listing(first), [{ path: "ok", type: "2", link: "/etc" }]],
  ];
  for (const [fact, code, index, tar = held] of table) {
    test(`${fact} is ${code}`, async () => {
      const old = await treeOf(world, { withHidden: true });
      await assert.rejects(restore(archiveOf(makeTar(tar), index)), (error) => {
        assert.ok(isWorldFault(error, code), String(error));
        assert.match(error.message, /The world is unchanged/);
        return true;
      });
      assert.deepEqual(await treeOf(world, { withHidden: true }), old);
      assert.deepEqual((await readdir(base)).sort(), ["archive", "world"]);
    });
  }

  test("another digest is backup_corrupt, though all of it can be read", async () => {
    const old = await treeOf(world, { withHidden: true });
    const restoring = restore(archiveOf(makeTar(held), listing(...truth)), "0".repeat(64));
    await assert.rejects(restoring, (error) => isWorldFault(error, "backup_corrupt"));
    assert.deepEqual(await treeOf(world, { withHidden: true }), old);
  });

  test("one that tells the truth is restored", async () => {
    const { entries, files, bytes, removed } = await restore(archiveOf(makeTar(held), listing(...truth)));
    assert.deepEqual(
      { entries, files, bytes, removed },
      { entries: 3, files: 2, bytes: 300_002, removed: 1 },
    );
    const paths = (await treeOf(world, { withHidden: true })).map(({ path }) => path);
    assert.deepEqual(paths, ["dir", "dir/big", "ok"]);
  });
});
