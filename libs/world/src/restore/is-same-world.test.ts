import assert from "node:assert/strict";
import { mkdir, mkdtemp, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openArchive } from "../archive/open.ts";
import { verifyArchive } from "../archive/verify.ts";
import { writeArchive } from "../archive/write.ts";
import { Folder } from "../path/folder.ts";
import { isSameWorld } from "./is-same-world.ts";

const rows: [fact: string, change: (world: string) => Promise<unknown>, isSame: boolean][] = [
  ["an untouched world is the same", async () => {}, true],
  ["a file that came makes it another", (world) => writeFile(join(world, "new"), ""), false],
  ["a file that went makes it another", (world) => rm(join(world, "region", "r.0.0.mca")), false],
  ["a byte that changed makes it another", (world) => writeFile(join(world, "level.dat"), "lev3l"), false],
  [
    "a file that was renamed makes it another",
    (world) => rename(join(world, "level.dat"), join(world, "l")),
    false,
  ],
  ["an empty folder that came makes it another", (world) => mkdir(join(world, "empty")), false],
  [
    "a link in the place of a file makes it another",
    async (world) => {
      await rename(join(world, "level.dat"), `${world}-level`);
      await symlink(`${world}-level`, join(world, "level.dat"));
    },
    false,
  ],
  [
    "a change in what a plugin named as we name our partials makes it another",
    (world) => writeFile(join(world, "region", ".svc-of-a-plugin"), "changed"),
    false,
  ],
  ["our own hidden partials do not count", (world) => writeFile(join(world, ".svc-upload-1"), "x"), true],
];
for (const [fact, change, isSame] of rows) {
  test(fact, async () => {
    const base = await mkdtemp(join(tmpdir(), "svc-same-"));
    const path = join(base, "world");
    await mkdir(join(path, "region"), { recursive: true });
    await writeFile(join(path, "level.dat"), "level");
    await writeFile(join(path, "region", "r.0.0.mca"), Buffer.alloc(100_000, 7));
    await writeFile(join(path, "region", ".svc-of-a-plugin"), "x");
    await using world = await Folder.openRoot(path);
    await using file = await open(join(base, "a.tar.zst"), "w+");
    await writeArchive(world, {
      compression: "zstd",
      write: async (chunk) => void (await file.write(chunk)),
    });
    const archive = await openArchive(file);
    const held = await verifyArchive(archive);
    await change(path);
    assert.equal(await isSameWorld(world, archive, held), isSame);
    await rm(base, { recursive: true });
  });
}
