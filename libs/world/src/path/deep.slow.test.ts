// Trees that are deeper than any path can name: a plugin or a player makes them with a few lines, and every step of ours
// has to live with them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openArchive } from "../archive/open.ts";
import { storeArchive } from "../archive/store.ts";
import { measure, walk } from "../archive/walk.ts";
import { writeArchive } from "../archive/write.ts";
import { isWorldFault } from "../fault.ts";
import { makeFolder, removePath, renamePath } from "../files/change.ts";
import { listFolder } from "../files/read.ts";
import { sendFolder } from "../files/send.ts";
import { isSameWorld } from "../restore/is-same-world.ts";
import { browseArchive, restorePaths } from "../restore/partial-restore.ts";
import { restoreWorld } from "../restore/restore.ts";
import { treeOf } from "../testing/tree.ts";
import { makeZip } from "../testing/zip.ts";
import { unzip } from "../zip/unzip.ts";
import { Folder } from "./folder.ts";
import { FolderStack, maxOpenFolders } from "./folder-stack.ts";
import { mostPathBytes } from "./limits.ts";

let base: string;
const at = (...names: string[]) => join(base, ...names);

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-deep-"));
  await mkdir(at("store"));
});
// Node's own `rm` names paths.
after(() => execFileSync("rm", ["-rf", base]));

const deep = "deep";

/** A chain of folders of one name, with a file in the innermost and one half-way. */
async function chain(
  root: Folder,
  { levels, name = deep }: { levels: number; name?: string },
): Promise<void> {
  await using stack = new FolderStack(root);
  for (let level = 1; level <= levels; level += 1) {
    await stack.folder.makeFolder(name);
    await stack.enter(name);
    const look = { mode: 0o600, atSeconds: 1_700_000_000 };
    if (level === levels || level === Math.floor(levels / 2))
      stack.folder.putFile("level.dat", Buffer.from(`level ${level}`), look);
  }
  while (stack.depth > 0)
    await stack.leave((folder) => folder.dress({ mode: 0o750, atSeconds: 1_600_000_000 }));
}

async function openWorld(name: string): Promise<Folder> {
  await mkdir(at(name));
  return await Folder.openRoot(at(name));
}

const openFiles = () => readdirSync("/proc/self/fd").length;

/** Their path is longer than a program can name, and they are more than the files that a process usually may open. */
const levels = 1_100;

describe("a chain of 1,100 folders", () => {
  let world: Folder;
  let expected: Awaited<ReturnType<typeof treeOf>>;
  let sha256: string;
  before(async () => {
    world = await openWorld("chain");
    await chain(world, { levels });
    await writeFile(at("chain", "z.txt"), "behind it");
    expected = await treeOf(world);
    const store = await Folder.openRoot(at("store"));
    const kept = await storeArchive({ world, store, name: "chain-1.tar.zst", keepFree: 0 });
    assert.deepEqual([kept.entries, kept.skipped, kept.skippedNames], [levels + 3, 0, []]);
    ({ sha256 } = kept);
    await store.close();
  });
  after(() => world.close());

  test("is counted and walked with a few descriptors", async () => {
    assert.deepEqual(await measure(world), { entries: levels + 3, files: 3, bytes: 28, allocated: 28 });
    const few = openFiles() + maxOpenFolders + 8;
    let deepest = 0;
    for await (const { path } of walk(world)) {
      deepest = Math.max(deepest, path.length);
      if (path.length % 1_000 < 5) assert.ok(openFiles() <= few, `${openFiles()} files are open`);
    }
    assert.equal(deepest, levels * "deep/".length + "level.dat".length);
  });

  test("comes back whole out of a backup, into an empty world and over itself", async () => {
    await using archive = await open(at("store", "chain-1.tar.zst"));
    assert.equal(
      await isSameWorld(world, await openArchive(archive), { entries: levels + 3, files: 3, bytes: 28 }),
      true,
    );
    await using fresh = await openWorld("fresh");
    const first = await restoreWorld({ world: fresh, archive, sha256, compare: true });
    assert.deepEqual([first.entries, first.removed], [levels + 3, 0]);
    assert.deepEqual(await treeOf(fresh), expected);
    await writeFile(at("fresh", deep, "later.txt"), "goes");
    const second = await restoreWorld({ world: fresh, archive, sha256 });
    assert.equal(second.removed, 1);
    assert.deepEqual(await treeOf(fresh, { withHidden: true }), expected);
  });

  test("is laid over itself by a restore of that folder alone", async () => {
    await using archive = await open(at("store", "chain-1.tar.zst"));
    await restorePaths({ world, archive, sha256, only: [deep] });
    const names = (tree: typeof expected) => tree.map(({ path, sha256: digest }) => [path, digest]);
    assert.deepEqual(names(await treeOf(world, { withHidden: true })), names(expected));
    const { listing } = await browseArchive(await openArchive(archive), { path: "deep/deep/deep", most: 10 });
    assert.deepEqual(
      listing.map(({ name }) => name),
      [deep],
    );
  });

  test("is sent as a zip, and a zip of it is extracted over it", async () => {
    let bytes = 0;
    await sendFolder(world, deep, {
      write: async (chunk) => {
        bytes += chunk.length;
      },
    });
    assert.ok(bytes > levels ** 2 * 5, "each name in a zip is a whole path, twice");
    const name = `${"deep/".repeat(levels)}level.dat`;
    await using target = await openWorld("unzipped");
    await writeFile(at("unzipped", "deep.zip"), await makeZip([{ name, content: "from the zip" }]));
    assert.deepEqual(await unzip({ world: target, path: "deep.zip", overwrite: false }), {
      files: 1,
      bytes: 12,
    });
    await assert.rejects(unzip({ world: target, path: "deep.zip", overwrite: false }), (error) =>
      isWorldFault(error, "file_exists"),
    );
    await unzip({ world: target, path: "deep.zip", overwrite: true });
    assert.equal((await measure(target)).entries, levels + 2);
  });

  test("is listed, renamed and removed", async () => {
    await makeFolder(world, "other");
    await renamePath(world, deep, "other/deep");
    assert.deepEqual(
      (await listFolder(world, "other/deep/deep", { most: 10 })).listing.map(({ name }) => name),
      [deep],
    );
    const few = openFiles();
    await removePath(world, "other");
    assert.equal(openFiles(), few);
    assert.deepEqual(readdirSync(at("chain")), ["z.txt"]);
  });
});

describe("what no archive holds", () => {
  const written = async (world: Folder) =>
    await writeArchive(world, { compression: "zstd", write: async () => undefined });

  test("a folder below the longest path is counted as one, and named", async () => {
    await using world = await openWorld("too-long");
    const name = "n".repeat(200);
    await chain(world, { levels: 1_000, name });
    await writeFile(at("too-long", "z.txt"), "behind it");
    const { entries, skipped, unreadable, skippedNames } = await written(world);
    const kept = Math.floor((mostPathBytes + 1) / 201);
    assert.deepEqual([entries, skipped, unreadable], [kept + 1, 1, 0]);
    assert.equal((await measure(world)).entries, entries);
    assert.equal(skippedNames.length, 1);
    assert.match(skippedNames[0] ?? "", /^n+ \.\.\. n+ \(its path is too long\)$/);
    assert.ok((skippedNames[0] ?? "").length < 300);
  });

  test("paths that are long are bounded together: headers never outgrow the world without end", async () => {
    await using world = await openWorld("comb");
    const name = "n".repeat(250);
    await chain(world, { levels: 250, name });
    await using stack = new FolderStack(world);
    for (let level = 0; level < 250; level += 1) await stack.enter(name);
    for (let file = 0; file < 5_000; file += 1)
      stack.folder.putFile(`f${file}`, Buffer.alloc(0), { mode: 0o600 });
    const { entries, skipped } = await written(world);
    assert.equal(entries + skipped, 250 + 2 + 5_000);
    assert.ok(skipped > 500 && entries > 3_500, `${entries} and ${skipped}`);
    assert.equal((await measure(world)).entries, entries);
  });
});

test("a folder that is moved while the way leads through it is noticed, not followed", async () => {
  await using root = await openWorld("moved");
  await chain(root, { levels: 100 });
  await mkdir(at("outside"));
  await using stack = new FolderStack(root);
  for (let level = 0; level < 100; level += 1) await stack.enter(deep);
  execFileSync("mv", [deep, at("outside", deep)], { cwd: at("moved", ...Array<string>(20).fill(deep)) });
  await assert.rejects(async () => {
    while (stack.depth > 0) await stack.leave();
  }, /was moved/);
});
