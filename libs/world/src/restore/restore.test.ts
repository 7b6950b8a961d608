import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { openArchive } from "../archive/open.ts";
import { storeArchive } from "../archive/store.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { treeOf } from "../testing/tree.ts";
import { browseArchive, restorePaths } from "./partial-restore.ts";
import { restoreWorld } from "./restore.ts";

let base: string;
let world: Folder;
let store: Folder;
const at = (...names: string[]) => join(base, ...names);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-restore-"));
  await mkdir(at("store"));
  await mkdir(at("world", "world", "region"), { recursive: true });
  await mkdir(at("world", "plugins", "empty"), { recursive: true });
  await writeFile(at("world", "server.properties"), "motd=old\n");
  await writeFile(at("world", "world", "level.dat"), "level");
  await writeFile(at("world", "world", "region", "r.0.0.mca"), randomBytes(5 << 20), { mode: 0o600 });
  await writeFile(Buffer.concat([Buffer.from(at("world/")), Buffer.from([0xd6, 0xd0])]), "gbk name");
  await chmod(at("world", "plugins", "empty"), 0o710);
  world = await Folder.openRoot(at("world"));
  store = await Folder.openRoot(at("store"));
});
afterEach(async () => {
  await world.close();
  await store.close();
  await rm(base, { recursive: true });
});

/** Changes the world in every way that a server may. */
async function play(): Promise<void> {
  await writeFile(at("world", "server.properties"), "motd=new and longer\n");
  await writeFile(at("world", "world", "level.dat"), "other");
  await rm(at("world", "plugins"), { recursive: true });
  await writeFile(at("world", "plugins"), "a file where a folder was");
  await mkdir(at("world", "world_nether"));
  await writeFile(at("world", "world_nether", "added"), "added");
  await writeFile(at("world", "world", "added"), "added");
  await symlink("/etc", at("world", "link"));
  await mkdir(at("world", "lost+found"));
  await writeFile(at("world", "lost+found", "#12"), "of the file system");
}

for (const name of ["alpha-1.tar.zst", "alpha-1.tar.gz"]) {
  describe(`a restore of ${name}`, () => {
    test("gives back the very tree, removes what came later and keeps lost+found", async () => {
      const before = await treeOf(world);
      const { sha256 } = await storeArchive({ world, store, name, keepFree: 0 });
      await play();
      await using archive = await open(at("store", name));
      const restored = await restoreWorld({ world, archive, sha256, compare: true });
      assert.deepEqual(await treeOf(world), before);
      assert.equal(restored.removed, 4);
      assert.equal(restored.files, 4);
      assert.deepEqual(await readdir(at("world", "lost+found")), ["#12"]);
      assert.equal(
        (await readdir(at("world"))).some((entry) => entry.startsWith(".svc-")),
        false,
      );
    });

    test("of another digest leaves the world as it is", async () => {
      await storeArchive({ world, store, name, keepFree: 0 });
      await play();
      const before = await treeOf(world, { withHidden: true });
      await using archive = await open(at("store", name));
      await assert.rejects(
        restoreWorld({ world, archive, sha256: "0".repeat(64) }),
        (error) => isWorldFault(error, "backup_corrupt") && /The world is unchanged/.test(error.message),
      );
      assert.deepEqual(await treeOf(world, { withHidden: true }), before);
    });

    test("of some files lays those over the world and removes nothing", async () => {
      const { sha256 } = await storeArchive({ world, store, name, keepFree: 0 });
      const before = await treeOf(world);
      await writeFile(at("world", "world", "level.dat"), "other");
      await writeFile(at("world", "world", "added"), "added");
      await rename(at("world", "world", "region"), at("world", "region-moved"));
      await using archive = await open(at("store", name));
      await restorePaths({ world, archive, sha256, only: ["world/level.dat", "world/region"] });
      assert.equal(await readFile(at("world", "world", "level.dat"), "utf8"), "level");
      assert.equal(await readFile(at("world", "world", "added"), "utf8"), "added");
      const of = (entries: typeof before) => entries.filter(({ path }) => path === "world/region/r.0.0.mca");
      assert.deepEqual(of(await treeOf(world)), of(before));
      await assert.rejects(restorePaths({ world, archive, sha256, only: ["nothing"] }), (error) =>
        isWorldFault(error, "not_found"),
      );
    });

    test("shows its folders before", async () => {
      await storeArchive({ world, store, name, keepFree: 0 });
      await using file = await open(at("store", name));
      const archive = await openArchive(file);
      const { listing, truncated } = await browseArchive(archive, { path: "world", most: 10 });
      assert.deepEqual(
        listing.map(({ name, size, is_dir }) => [name, size, is_dir]),
        [
          ["level.dat", 5, false],
          ["region", 0, true],
        ],
      );
      assert.equal(truncated, false);
      assert.equal((await browseArchive(archive, { path: "", most: 1 })).truncated, true);
      await assert.rejects(browseArchive(archive, { path: "nowhere", most: 1 }), (error) =>
        isWorldFault(error, "not_found"),
      );
    });
  });
}
