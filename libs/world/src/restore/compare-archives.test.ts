import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openArchive } from "../archive/open.ts";
import { storeArchive } from "../archive/store.ts";
import { openStored } from "../chunks/open-stored.ts";
import { storeDeduplicated } from "../chunks/store.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { withDigests } from "../testing/digests.ts";
import { compareArchives } from "./compare-archives.ts";

let base: string;
let store: Folder;
const at = (...names: string[]) => join(base, ...names);
const most = { files: 1_000, bytes: 1 << 20 };
const touched = new Date("2026-01-02T00:00:00Z");

async function write(names: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(names)) {
    await writeFile(at("world", name), text);
    await utimes(at("world", name), touched, touched);
  }
}

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-compare-"));
  await mkdir(at("world", "region"), { recursive: true });
  await mkdir(at("store"));
  store = await Folder.openRoot(at("store"));
  await write({
    "level.dat": "one",
    "region/a": "a",
    "region/b": "b",
    gone: "gone",
    same: "same",
    touched: "t",
  });
  await writeFile(at("world", "sparse"), "data");
  await truncate(at("world", "sparse"), 8 << 20);
  await keep("1");
  await write({ "level.dat": "two", "region/b": "longer", "region/new": "new", touched: "t" });
  await utimes(at("world", "touched"), new Date(), new Date());
  await rm(at("world", "gone"));
  await keep("2");
});
after(async () => {
  await store.close();
  await rm(base, { recursive: true });
});

/** The world as it is now, in each form that an archive has. */
async function keep(number: string): Promise<void> {
  await using world = await Folder.openRoot(at("world"));
  for (const end of ["zst", "gz"])
    await storeArchive({ world, store, name: `whole-${number}.tar.${end}`, keepFree: 0, fileDigests: true });
  await storeDeduplicated({ world, store, name: `chunks-${number}.tar.zst`, keepFree: 0, fileDigests: true });
  const older = withDigests(await readFile(at("store", `whole-${number}.tar.zst`)), () => undefined);
  await writeFile(at("store", `older-${number}.tar.zst`), older);
}

async function compare(first: string, second: string, about: { path?: string; most?: typeof most } = {}) {
  await using earlier = await openStored(store, first);
  await using later = await openStored(store, second);
  const archives = [await openArchive(later), await openArchive(earlier)] as const;
  return await compareArchives(...archives, { path: "", most, ...about });
}

const changes = [
  { path: "gone", change: "removed", size: 4 },
  { path: "level.dat", change: "changed", size: 3 },
  { path: "region/b", change: "changed", size: 6 },
  { path: "region/new", change: "added", size: 3 },
];

describe("what differs between two archives", () => {
  // The file with holes has no digest, and is told by its size and time.
  for (const [first, second] of [
    ["whole-1.tar.zst", "whole-2.tar.zst"],
    ["chunks-1.tar.zst", "chunks-2.tar.zst"],
    ["whole-1.tar.zst", "chunks-2.tar.zst"],
  ] as const) {
    test(`is told by digests, from ${first} to ${second}`, async () => {
      const found = await compare(first, second);
      assert.deepEqual(found.files, changes);
      const { added, changed, removed, same, exact, truncated } = found;
      assert.deepEqual([added, changed, removed, same], [1, 2, 1, 4]);
      assert.deepEqual([exact, truncated], [false, false]);
      const { exact: isExact } = await compare(first, second, { path: "region" });
      assert.equal(isExact, true);
    });
  }

  for (const [first, second] of [
    ["older-1.tar.zst", "whole-2.tar.zst"],
    ["whole-1.tar.zst", "older-2.tar.zst"],
    ["whole-1.tar.gz", "whole-2.tar.gz"],
  ] as const) {
    test(`is told by size and time without digests, from ${first} to ${second}`, async () => {
      const { files, exact } = await compare(first, second);
      const paths = files.map(({ path, change }) => `${change} ${path}`);
      // Of level.dat size and time are the same; `touched` has another time.
      assert.deepEqual(paths, ["removed gone", "changed region/b", "added region/new", "changed touched"]);
      assert.equal(exact, false);
    });
  }

  test("is nothing between an archive and itself", async () => {
    const { files, added, changed, removed, same } = await compare("whole-2.tar.zst", "chunks-2.tar.zst");
    assert.deepEqual([files, added, changed, removed, same], [[], 0, 0, 0, 7]);
  });

  test("is limited to a folder or a file", async () => {
    const of = async (path: string) =>
      (await compare("whole-1.tar.zst", "whole-2.tar.zst", { path })).files.map((file) => file.path);
    assert.deepEqual(await of("region"), ["region/b", "region/new"]);
    assert.deepEqual(await of("region/b"), ["region/b"]);
    assert.deepEqual(await of("regio"), []);
    await assert.rejects(of("../up"), (error) => isWorldFault(error, "bad_path"));
  });

  test("is cut at a number of files and of bytes, and counted whole", async () => {
    const few = await compare("whole-1.tar.zst", "whole-2.tar.zst", { most: { files: 1, bytes: 1_000 } });
    assert.deepEqual([few.files, few.truncated, few.changed], [changes.slice(0, 1), true, 2]);
    const short = await compare("whole-1.tar.zst", "whole-2.tar.zst", { most: { files: 10, bytes: 60 } });
    assert.deepEqual([short.files, short.truncated], [changes.slice(0, 1), true]);
  });

  test("is not told of an archive whose index is damaged", async () => {
    const packed = withDigests(await readFile(at("store", "whole-2.tar.zst")), (digests) =>
      digests.subarray(32),
    );
    await writeFile(at("store", "wrong-1.tar.zst"), packed);
    const comparing = compare("whole-1.tar.zst", "wrong-1.tar.zst");
    await assert.rejects(comparing, (error) => isWorldFault(error, "backup_corrupt"));
  });
});
