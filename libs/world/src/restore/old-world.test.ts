import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { linkSync, statSync, truncateSync, utimesSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { storeArchive } from "../archive/store.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { SourceFile } from "../path/source-file.ts";
import { treeOf } from "../testing/tree.ts";
import { secondsOf } from "./extract.ts";
import { restoreWorld } from "./restore.ts";

const isRoot = process.getuid?.() === 0;
const large = "region/r.0.0.mca";
const small = "level.dat";
let base: string;
let world: Folder;
let before: Awaited<ReturnType<typeof treeOf>>;
let sha256: string;
const at = (...names: string[]) => join(base, ...names);
const inodeOf = (path: string) => statSync(at("world", path)).ino;

async function fill(): Promise<void> {
  await mkdir(at("world", "region"), { recursive: true });
  await writeFile(at("world", large), randomBytes(9 << 20));
  await writeFile(at("world", "region", "r.0.1.mca"), randomBytes(300_000));
  await writeFile(at("world", small), randomBytes(3_000), { mode: 0o600 });
  await writeFile(at("world", "empty"), "");
}

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-old-"));
  await mkdir(at("store"));
  await fill();
  world = await Folder.openRoot(at("world"));
  await keep();
});
afterEach(async () => {
  await world.close();
  await rm(base, { recursive: true });
});

async function keep(): Promise<void> {
  before = await treeOf(world);
  await using store = await Folder.openRoot(at("store"));
  await rm(at("store", "alpha-1.tar.zst"), { force: true });
  ({ sha256 } = await storeArchive({ world, store, name: "alpha-1.tar.zst", keepFree: 0 }));
}

async function restore(): Promise<void> {
  await using archive = await open(at("store", "alpha-1.tar.zst"));
  await restoreWorld({ world, archive, sha256, compare: true });
}

async function assertRestored(): Promise<void> {
  await restore();
  assert.deepEqual(await treeOf(world, { withHidden: true }), before);
}

/** Other bytes at a place of a file that looks as before from outside. */
async function spoil(path: string, position: number): Promise<void> {
  const { mtimeMs } = statSync(at("world", path));
  await using file = await open(at("world", path), "r+");
  await file.write("spoilt", position);
  await file.utimes(secondsOf(mtimeMs), secondsOf(Math.floor(mtimeMs)));
}

describe("a restore over a world that has files in common with the archive", () => {
  test("takes them along as they are, large and small, and makes the others anew", async () => {
    const [kept, keptSmall, changed] = [inodeOf(large), inodeOf(small), inodeOf("region/r.0.1.mca")];
    await writeFile(at("world", "region", "r.0.1.mca"), randomBytes(300_000));
    await assertRestored();
    assert.deepEqual([inodeOf(large), inodeOf(small)], [kept, keptSmall]);
    assert.notEqual(inodeOf("region/r.0.1.mca"), changed);
    assert.equal(statSync(at("world", large)).nlink, 1);
  });

  test("does so again and again", async () => {
    const kept = inodeOf(large);
    for (let turn = 0; turn < 3; turn += 1) await assertRestored();
    assert.equal(inodeOf(large), kept);
  });

  for (const position of [0, 5_000_000, (9 << 20) - 6])
    test(`finds other bytes at ${position} of a file that looks the same`, async () => {
      const changed = inodeOf(large);
      await spoil(large, position);
      assert.equal(
        Math.floor(statSync(at("world", large)).mtimeMs),
        before.find((e) => e.path === large)?.mtimeMs,
      );
      await assertRestored();
      assert.notEqual(inodeOf(large), changed);
    });

  test("finds other bytes in a small file", async () => {
    await spoil(small, 2_000);
    await assertRestored();
  });

  test("gives back modes and times of files whose content is the same", async () => {
    await chmod(at("world", large), 0o666);
    utimesSync(at("world", small), 1, 1);
    await assertRestored();
  });

  test("takes them along whoever they belong to", { skip: !isRoot && "needs root" }, async () => {
    const kept = inodeOf(large);
    await chown(at("world", large), 1_000, 1_000);
    await assertRestored();
    assert.equal(inodeOf(large), kept);
  });

  test("is not fooled by a file that has another name, and leaves that one alone", async () => {
    const kept = inodeOf(large);
    linkSync(at("world", large), at("another name"));
    await assertRestored();
    assert.notEqual(inodeOf(large), kept);
    await writeFile(at("another name"), "what a stranger writes");
    assert.deepEqual(await treeOf(world), before);
  });

  test("goes round whatever stands in a file's place", async () => {
    await rm(at("world", large));
    execFileSync("mkfifo", [at("world", large)]);
    await rm(at("world", small));
    await symlink(at("store", "alpha-1.tar.zst"), at("world", small));
    await rm(at("world", "empty"));
    await mkdir(at("world", "empty"));
    await assertRestored();
  });

  test("writes them where a file cannot have two names", async (t) => {
    const kept = inodeOf(large);
    t.mock.method(Folder.prototype, "alias", () => false);
    await assertRestored();
    assert.notEqual(inodeOf(large), kept);
  });

  test("takes the archive alone when a file of the old world breaks while it is read", async (t) => {
    await spoil(large, 5_000_000);
    const read = SourceFile.prototype.read;
    let beginnings = 0;
    t.mock.method(SourceFile.prototype, "read", function (this: SourceFile, buffer: Buffer, from: number) {
      if (this.stats.size === 9 << 20 && from === 0) beginnings += 1;
      // It is read again for what was the same.
      if (beginnings > 1) throw new Error("EIO");
      return read.call(this, buffer, from);
    });
    await restore();
    t.mock.restoreAll();
    assert.ok(beginnings > 1);
    assert.deepEqual(await treeOf(world, { withHidden: true }), before);
  });
});

describe("a volume that has no room for two worlds", { skip: !isRoot && "needs root to mount one" }, () => {
  beforeEach(async () => {
    await world.close();
    await rm(at("world"), { recursive: true });
    await mkdir(at("world"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=13m", "tmpfs", at("world")]);
    await fill();
    world = await Folder.openRoot(at("world"));
    await keep();
  });
  afterEach(() => void execFileSync("umount", ["-l", at("world")]));

  test("takes a restore that changes little", async () => {
    await writeFile(at("world", small), "changed");
    await writeFile(at("world", "region", "r.0.1.mca"), randomBytes(10));
    await assertRestored();
  });

  test("takes none that changes much, and keeps the old world", async () => {
    truncateSync(at("world", large), 8 << 20);
    const old = await treeOf(world, { withHidden: true });
    await assert.rejects(
      restore(),
      (error) => isWorldFault(error, "volume_full") && /5 MiB are missing/.test(error.message),
    );
    assert.deepEqual(await treeOf(world, { withHidden: true }), old);
  });

  test("keeps the old world when what looked the same is not", async () => {
    await spoil(large, 5_000_000);
    const old = await treeOf(world, { withHidden: true });
    await assert.rejects(
      restore(),
      (error) => isWorldFault(error, "volume_full") && /world is unchanged/.test(error.message),
    );
    assert.deepEqual(await treeOf(world, { withHidden: true }), old);
    assert.equal((await readFile(at("world", small))).length, 3_000);
  });
});
