import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, test } from "node:test";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { treeOf } from "../testing/tree.ts";
import { makeZip } from "../testing/zip.ts";
import { openZipWorld, type ZipWorld } from "../testing/zip-world.ts";
import { unzip } from "./unzip.ts";

let opened: ZipWorld;
beforeEach(async () => {
  opened = await openZipWorld();
});
afterEach(() => opened[Symbol.asyncDispose]());

const { at, text, put, extract } = {
  at: (...names: string[]) => opened.at(...names),
  text: (...names: string[]) => opened.text(...names),
  put: (...args: Parameters<ZipWorld["put"]>) => opened.put(...args),
  extract: (...args: Parameters<ZipWorld["extract"]>) => opened.extract(...args),
};

describe("a zip", () => {
  test("is extracted into its own folder, with modes and over nothing", async () => {
    await put(
      makeZip([
        { name: "dir/", mode: 0o040700 },
        { name: "dir/run.sh", content: "#!/bin/sh", deflate: true, mode: 0o100755 },
        { name: "Readme.txt", content: "one" },
        { name: "README.txt", content: "two" },
        { name: "two\nlines", content: "odd" },
        { name: "kept/more.txt", content: "more" },
        { name: "inner.zip", content: makeZip([{ name: "../evil" }]) },
      ]),
    );
    assert.deepEqual(await extract(), {
      files: 6,
      bytes: 9 + 3 + 3 + 3 + 4 + makeZip([{ name: "../evil" }]).length,
    });
    const tree = await treeOf(opened.world, { withHidden: true });
    assert.deepEqual(
      tree.filter(({ path }) => path.startsWith("packs/")).map(({ path, mode }) => [path, mode.toString(8)]),
      [
        ["packs/README.txt", "644"],
        ["packs/Readme.txt", "644"],
        ["packs/dir", "700"],
        ["packs/dir/run.sh", "755"],
        ["packs/inner.zip", "644"],
        ["packs/kept", "755"],
        ["packs/kept/k.txt", "644"],
        ["packs/kept/more.txt", "644"],
        ["packs/old.txt", "644"],
        ["packs/p.zip", "644"],
        ["packs/two\nlines", "644"],
      ],
    );
    assert.equal(
      tree.some(({ path }) => path.startsWith(".svc-")),
      false,
    );
  });

  test("says what it would replace, sorted and at most 200 of it, and replaces it when told", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `f${String(299 - index).padStart(3, "0")}`);
    for (const name of names) await writeFile(at("world", "packs", name), "old");
    await put(
      makeZip([...names.map((name) => ({ name, content: "new" })), { name: "free", content: "new" }]),
    );
    await assert.rejects(extract(), (error) => {
      assert.ok(isWorldFault(error, "file_exists"));
      assert.equal(error.fault.conflict_count, 300);
      assert.deepEqual(
        error.fault.conflicts,
        names
          .sort()
          .slice(0, 200)
          .map((name) => `packs/${name}`),
      );
      return true;
    });
    await assert.rejects(text("packs", "free"));
    await extract(true);
    assert.equal(await text("packs", "f299"), "new");
    assert.equal(await text("packs", "free"), "new");
    assert.equal(await text("packs", "kept", "k.txt"), "kept");
  });

  test("with names in GBK, in UTF-8 without a flag, and with a Unicode path field keeps them", async () => {
    const nameRaw = Buffer.from([0xca, 0xc0, 0xbd, 0xe7, 0x2f, 0xd6, 0xd0]);
    const field = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from("世界.txt")]);
    const head = Buffer.alloc(4);
    head.writeUInt16LE(0x7075, 0);
    head.writeUInt16LE(field.length, 2);
    await put(
      makeZip([
        { name: nameRaw, content: "gbk" },
        { name: Buffer.from("über.txt"), content: "utf8", flags: 0 },
        { name: Buffer.from("plain.txt"), content: "field", extra: Buffer.concat([head, field]) },
        { name: "win\\dir\\file.txt", content: "backslash" },
      ]),
    );
    await extract();
    assert.equal(await text("packs", "世界", "中"), "gbk");
    assert.equal(await text("packs", "über.txt"), "utf8");
    assert.equal(await text("packs", "世界.txt"), "field");
    assert.equal(await text("packs", "win", "dir", "file.txt"), "backslash");
  });

  test("of the zip command, in zip64 and with large and many files gives what unzip gives", async () => {
    await mkdir(at("made", "many"), { recursive: true });
    for (let index = 0; index < 50; index += 1)
      await writeFile(at("made", "many", `${index}`), randomBytes(index * 900));
    for (const size of [70_000, 130_000, 200_000, 262_144, 262_145, 2_000_000])
      await writeFile(at("made", `${size}`), Buffer.concat([randomBytes(size - 9_000), Buffer.alloc(9_000)]));
    await writeFile(at("made", "large.bin"), Buffer.concat([randomBytes(9 << 20), Buffer.alloc(9 << 20)]));
    execFileSync("zip", ["-q", "-r", "-fz", at("world", "packs", "p.zip"), "."], { cwd: at("made") });
    await extract();
    await mkdir(at("peer"));
    execFileSync("unzip", ["-q", at("world", "packs", "p.zip"), "-d", at("peer")]);
    await using ours = await Folder.openRoot(at("world", "packs"));
    await using peer = await Folder.openRoot(at("peer"));
    const bare = async (folder: Folder) =>
      (await treeOf(folder))
        .filter(({ path }) => !/^(p.zip|old.txt|kept)/.test(path))
        .map(({ path, kind, mode, size, sha256 }) => ({ path, kind, mode, size, sha256 }));
    assert.deepEqual(await bare(ours), await bare(peer));
    await put(makeZip([{ name: "z64", content: "z64" }], { zip64: true }));
    await extract();
    assert.equal(await text("packs", "z64"), "z64");
  });

  test("a folder swapped for a link while it is extracted leads nowhere else", async () => {
    await put(
      makeZip([
        { name: "kept/a", content: Buffer.alloc(64 << 20), deflate: true },
        { name: "kept/b", content: "b" },
      ]),
    );
    let swapped = false;
    const onProgress = () => {
      if (swapped) return;
      swapped = true;
      void rename(at("world", "packs", "kept"), at("world", "packs", "moved")).then(() =>
        symlink(at("outside"), at("world", "packs", "kept")),
      );
    };
    await unzip({ world: opened.world, path: "packs/p.zip", overwrite: true, onProgress }).catch(
      () => undefined,
    );
    assert.deepEqual(await readdir(at("outside")), []);
  });
});
