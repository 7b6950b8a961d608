// Names as players and their tools leave them, all the way into an archive and back.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { storeArchive } from "../archive/store.ts";
import { Folder } from "../path/folder.ts";
import { treeOf } from "../testing/tree.ts";
import { restorePaths } from "./partial-restore.ts";
import { restoreWorld } from "./restore.ts";

const raw = Buffer.from([0xd6, 0xd0, 0x2e, 0x74]);
const below = (folder: string) => Buffer.concat([Buffer.from(`${folder}/`), raw]);
const long = "世界".repeat(30);

for (const name of ["alpha-1.tar.zst", "alpha-1.tar.gz"]) {
  test(`names that are not UTF-8 come back from folders of any script: ${name}`, async () => {
    const base = await mkdtemp(join(tmpdir(), "svc-names-"));
    const at = (...names: string[]) => join(base, ...names);
    await mkdir(at("world", "世界", "plügins", long), { recursive: true });
    await mkdir(at("store"));
    await writeFile(below(at("world", "世界", "plügins")), "gbk name");
    await writeFile(below(at("world", "世界", "plügins", long)), "gbk name in a long path");
    await mkdir(below(at("world", "世界")));
    await using world = await Folder.openRoot(at("world"));
    await using store = await Folder.openRoot(at("store"));
    const before = await treeOf(world);
    const { sha256 } = await storeArchive({ world, store, name, keepFree: 0 });
    await using archive = await open(at("store", name));
    await rm(at("world", "世界"), { recursive: true });
    await restoreWorld({ world, archive, sha256, compare: true });
    assert.deepEqual(await treeOf(world), before);
    await rm(at("world", "世界"), { recursive: true });
    await restorePaths({ world, archive, sha256, only: ["世界"] });
    assert.deepEqual(await treeOf(world), before);
    await rm(base, { recursive: true });
  });
}
