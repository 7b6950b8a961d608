import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import type { TaskFault } from "@svc/proto/world-task";
import { encodeSeekTable } from "../archive/seek-table.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { makeTar, paxRecord } from "../testing/tar.ts";
import { treeOf } from "../testing/tree.ts";
import { restoreWorld } from "./restore.ts";

let base: string;
let world: Folder;
const at = (...names: string[]) => join(base, ...names);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-hostile-"));
  await mkdir(at("world", "kept"), { recursive: true });
  await mkdir(at("outside"));
  await writeFile(at("world", "kept", "file"), "kept");
  world = await Folder.openRoot(at("world"));
});
afterEach(async () => {
  await world.close();
  await rm(base, { recursive: true });
});

async function restore(packed: Buffer): Promise<unknown> {
  await writeFile(at("archive"), packed);
  await using archive = await open(at("archive"));
  const sha256 = createHash("sha256").update(packed).digest("hex");
  return await restoreWorld({ world, archive, sha256 });
}

const ok = { path: "ok", content: "ok" };
const huge = Buffer.alloc(2 << 20);

describe("a hostile archive is refused as a whole, and nothing in or out of the world changes", () => {
  const table: [fact: string, code: TaskFault["code"], tar: () => Buffer][] = [
    ["a path that goes up", "archive_unsafe", () => makeTar([ok, { path: "../evil", content: "x" }])],
    ["one that goes up in the middle", "archive_unsafe", () => makeTar([{ path: "a/../../evil" }])],
    ["an absolute path", "archive_unsafe", () => makeTar([{ path: "/etc/cron.d/evil" }])],
    [
      "one in a pax record",
      "archive_unsafe",
      () => makeTar([{ path: "x", type: "x", content: paxRecord("path", "../evil") }, ok]),
    ],
    [
      "one in a long name of GNU",
      "archive_unsafe",
      () => makeTar([{ path: "x", type: "L", content: "../evil\0" }, ok]),
    ],
    [
      "a NUL in a pax record",
      "archive_unsafe",
      () => makeTar([{ path: "x", type: "x", content: paxRecord("path", "a\0b") }, ok]),
    ],
    [
      "a name that is too long",
      "archive_unsafe",
      () => makeTar([{ path: "x", type: "L", content: `${"n".repeat(300)}\0` }, ok]),
    ],
    [
      "a path that is too long",
      "archive_unsafe",
      () => makeTar([{ path: "x", type: "L", content: `${"d/".repeat(32_000)}x\0` }, ok]),
    ],
    [
      "a plan of ours",
      "archive_unsafe",
      () => makeTar([{ path: ".svc-restore-1/plan", content: '{"kind":"merge","at":[]}' }]),
    ],
    ["a symlink", "archive_symlink", () => makeTar([{ path: "l", type: "2", link: "/etc" }])],
    [
      "a symlink and a file through it",
      "archive_symlink",
      () => makeTar([{ path: "l", type: "2", link: "/tmp" }, { path: "l/evil" }]),
    ],
    ["a hard link", "archive_symlink", () => makeTar([{ path: "l", type: "1", link: "/etc/passwd" }])],
    ["a character device", "archive_unsafe", () => makeTar([{ path: "null", type: "3" }])],
    ["a block device", "archive_unsafe", () => makeTar([{ path: "sda", type: "4" }])],
    ["a pipe", "archive_unsafe", () => makeTar([{ path: "pipe", type: "6" }])],
    ["a sparse file of GNU", "archive_unsafe", () => makeTar([{ path: "s", type: "S" }])],
    [
      "a sparse file of pax",
      "backup_corrupt",
      () => makeTar([{ path: "x", type: "x", content: paxRecord("GNU.sparse.size", "99999999999") }, ok]),
    ],
    ["two entries of one name", "archive_invalid", () => makeTar([ok, ok])],
    ["two spellings of one name", "archive_invalid", () => makeTar([{ path: "d/a" }, { path: "./d//a" }])],
    ["a file that is a folder too", "type_conflict", () => makeTar([{ path: "a" }, { path: "a/b" }])],
    ["a folder that is a file later", "type_conflict", () => makeTar([{ path: "a/b" }, { path: "a" }])],
    ["a folder with content", "archive_unsafe", () => makeTar([{ path: "d/", type: "5", content: "x" }])],
    [
      "a size beyond the end",
      "backup_corrupt",
      () => makeTar([{ path: "a", content: "x", size: 9_999_999 }]),
    ],
    [
      "a size that swallows the next entry's head",
      "backup_corrupt",
      () => makeTar([{ path: "a", content: "x", size: 700 }, ok]),
    ],
    [
      "a size in a pax record that no file has",
      "backup_corrupt",
      () => makeTar([{ path: "x", type: "x", content: paxRecord("size", "99999999999999999999") }, ok]),
    ],
    [
      "a negative size",
      "backup_corrupt",
      () => makeTar([{ path: "x", type: "x", content: paxRecord("size", "-1") }, ok]),
    ],
    [
      "a pax record that lies about its length",
      "backup_corrupt",
      () => makeTar([{ path: "x", type: "x", content: "999 path=a\n" }, ok]),
    ],
    [
      "an endless record about an entry",
      "backup_corrupt",
      () => makeTar([{ path: "x", type: "x", content: huge }, ok]),
    ],
    [
      "records about records",
      "backup_corrupt",
      () =>
        makeTar([
          ...Array.from({ length: 20 }, () => ({ path: "x", type: "g", content: paxRecord("comment", "x") })),
          ok,
        ]),
    ],
    ["a checksum that does not match", "backup_corrupt", () => makeTar([{ ...ok, checksum: 1 }])],
    ["no end", "backup_corrupt", () => makeTar([ok], { isTorn: true })],
    ["something after its end", "backup_corrupt", () => Buffer.concat([makeTar([ok]), Buffer.from("more")])],
    [
      "a record without its entry",
      "backup_corrupt",
      () => makeTar([{ path: "x", type: "L", content: "a\0" }]),
    ],
    ["no tar at all", "backup_corrupt", () => Buffer.from("x".repeat(5_000))],
  ];
  for (const [fact, code, tar] of table) {
    for (const [kind, pack] of [
      ["zst", zstdCompressSync],
      ["gz", gzipSync],
    ] as const) {
      test(`${fact} in a .tar.${kind} is ${code}`, async () => {
        const before = await treeOf(world, { withHidden: true });
        await assert.rejects(restore(pack(tar())), (error) => {
          assert.ok(isWorldFault(error, code), String(error));
          assert.match(error.message, /The world is unchanged/);
          return true;
        });
        assert.deepEqual(await treeOf(world, { withHidden: true }), before);
        assert.deepEqual(await readdir(at("outside")), []);
        assert.deepEqual((await readdir(base)).sort(), ["archive", "outside", "world"]);
      });
    }
  }

  test("a seek table that lies about its frames is corrupt or passed over", async () => {
    const frame = zstdCompressSync(makeTar([ok]));
    for (const plain of [1, 3_000, 0, 31 << 20, 0xffffffff]) {
      const packed = Buffer.concat([frame, encodeSeekTable([{ packed: frame.length, plain }])]);
      const before = await treeOf(world, { withHidden: true });
      const outcome = await restore(packed).then(
        () => "restored",
        (error: unknown) => error,
      );
      if (outcome === "restored") assert.ok(plain > 32 << 20, `${plain}`);
      else {
        assert.ok(isWorldFault(outcome, "backup_corrupt"), String(outcome));
        assert.deepEqual(await treeOf(world, { withHidden: true }), before);
      }
    }
  });

  test("a bomb that says it is larger than the volume is volume_full before anything is written", async () => {
    const size = 4 * 2 ** 40;
    const head = makeTar(
      [{ path: "x", type: "x", content: paxRecord("size", String(size)) }, { path: "bomb" }],
      { isTorn: true },
    );
    const before = await treeOf(world, { withHidden: true });
    await assert.rejects(restore(zstdCompressSync(head)), (error) =>
      isWorldFault(error, "backup_corrupt", "volume_full"),
    );
    assert.deepEqual(await treeOf(world, { withHidden: true }), before);
  });

  test("a world folder swapped for a link while a restore runs leads nowhere else", async () => {
    const files = Array.from({ length: 200 }, (_, index) => ({
      path: `kept/${index}`,
      content: "x".repeat(9_000),
    }));
    await writeFile(at("archive"), zstdCompressSync(makeTar(files)));
    await using archive = await open(at("archive"));
    const sha256 = createHash("sha256")
      .update(zstdCompressSync(makeTar(files)))
      .digest("hex");
    let swapping: Promise<void> | undefined;
    const onProgress = () => {
      swapping ??= rename(at("world", "kept"), at("world", "moved")).then(() =>
        symlink(at("outside"), at("world", "kept")),
      );
    };
    await restoreWorld({ world, archive, sha256, onProgress });
    await swapping;
    assert.deepEqual(await readdir(at("outside")), []);
  });

  test("a root that lists itself is no harm", async () => {
    await restore(
      gzipSync(
        makeTar([
          { path: "./", type: "5" },
          { path: "./a\nb\\c", content: "x" },
          { path: "C:evil", content: "x" },
        ]),
      ),
    );
    assert.deepEqual((await readdir(at("world"))).sort(), ["C:evil", "a\nb\\c"]);
  });
});

describe("a volume that is too small", {
  skip: process.getuid?.() !== 0 && "needs root to mount one",
}, () => {
  test("refuses a restore before anything is written, and one that fills up leaves the old world", async () => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", at("world")]);
    try {
      await using small = await Folder.openRoot(at("world"));
      await writeFile(at("world", "old"), Buffer.alloc(3 << 20, 1));
      const before = await treeOf(small, { withHidden: true });
      const tar = makeTar([{ path: "new", content: Buffer.alloc(2 << 20, 2) }]);
      const packed = zstdCompressSync(tar);
      await writeFile(at("archive"), packed);
      const sha256 = createHash("sha256").update(packed).digest("hex");
      await using archive = await open(at("archive"));
      await assert.rejects(restoreWorld({ world: small, archive, sha256 }), (error) => {
        assert.ok(isWorldFault(error, "volume_full"));
        assert.deepEqual([error.fault.need, (error.fault.avail ?? 0) < 2 << 20], [2 << 20, true]);
        assert.match(error.message, /: [12] MiB are missing\./);
        return true;
      });
      assert.deepEqual(await treeOf(small, { withHidden: true }), before);
      // Now the volume says it has room and has not.
      small.freeBytes = async () => undefined;
      await assert.rejects(
        restoreWorld({ world: small, archive, sha256 }),
        (error) => isWorldFault(error, "volume_full") && /The world is unchanged/.test(error.message),
      );
      assert.deepEqual(await treeOf(small, { withHidden: true }), before);
    } finally {
      execFileSync("umount", ["-l", at("world")]);
    }
  });
});
