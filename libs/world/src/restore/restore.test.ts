import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
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

/** What a world Job does in a cluster: as the user that servers run as, who owns every file of a world. */
const asTheGame = `
  import assert from "node:assert/strict";
  import { chmod, mkdir, open, readFile, stat, writeFile } from "node:fs/promises";
  import { storeArchive } from "../archive/store.ts";
  import { Folder } from "../path/folder.ts";
  import { removeTree } from "../path/remove-tree.ts";
  import { restoreWorld } from "./restore.ts";
  const base = process.argv[1];
  for (const folder of ["store", "world/mods/inner", "world/shut"]) await mkdir(\`\${base}/\${folder}\`, { recursive: true });
  for (const file of ["mods/one.jar", "mods/inner/two.jar", "shut/three", "blind"])
    await writeFile(\`\${base}/world/\${file}\`, file);
  const modes = { "mods/inner": 0o555, mods: 0o555, shut: 0o000, blind: 0o000 };
  for (const [name, mode] of Object.entries(modes)) await chmod(\`\${base}/world/\${name}\`, mode);
  const modeOf = async (name) => (await stat(\`\${base}/world/\${name}\`)).mode & 0o777;
  await using world = await Folder.openRoot(\`\${base}/world\`);
  await using store = await Folder.openRoot(\`\${base}/store\`);
  const stored = await storeArchive({ world, store, name: "alpha-1.tar.zst", keepFree: 0 });
  await chmod(\`\${base}/world/mods\`, 0o755);
  await writeFile(\`\${base}/world/mods/added.jar\`, "added");
  await chmod(\`\${base}/world/mods\`, 0o555);
  for (const compare of [true, false]) {
    await using archive = await open(\`\${base}/store/alpha-1.tar.zst\`);
    await restoreWorld({ world, archive, sha256: stored.sha256, compare });
    await assert.rejects(stat(\`\${base}/world/mods/added.jar\`), { code: "ENOENT" });
    assert.equal(await readFile(\`\${base}/world/mods/inner/two.jar\`, "utf8"), "mods/inner/two.jar");
    assert.deepEqual([await modeOf("mods"), await modeOf("mods/inner")], [0o555, 0o555]);
  }
  await removeTree(world, "mods");
  process.stdout.write(JSON.stringify(stored.skippedNames));
`;

test("a user without privileges backs up and restores folders that it shut itself, and is told what it can't read", async () => {
  const isRoot = process.getuid?.() === 0;
  const own = at("own");
  await mkdir(own);
  await chmod(base, 0o755);
  if (isRoot) await chown(own, 1000, 1000);
  const args = ["--input-type=module", "-e", asTheGame, own];
  const options = {
    cwd: import.meta.dirname,
    encoding: "utf8",
    ...(isRoot && { uid: 1000, gid: 1000 }),
  } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  assert.equal(status, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), ["blind (it cannot be read)"]);
});
