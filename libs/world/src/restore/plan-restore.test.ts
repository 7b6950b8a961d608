import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { RestoreChange } from "@svc/proto/file-changes";
import { openArchive } from "../archive/open.ts";
import { storeArchive } from "../archive/store.ts";
import { openStored } from "../chunks/open-stored.ts";
import { storeDeduplicated } from "../chunks/store.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { withDigests } from "../testing/digests.ts";
import { treeOf } from "../testing/tree.ts";
import { restorePaths } from "./partial-restore.ts";
import { compareFile, planRestore } from "./plan-restore.ts";
import { restoreWorld } from "./restore.ts";

describe("a file of the world against its entry in the archive", () => {
  const entry = { size: 8, mtimeMs: 1_000 };
  const present = { ...entry, isFile: true };
  const facts = {
    "of another size is changed": [{ ...present, size: 9 }, "changed"],
    "of another size and the same time is changed": [{ ...present, size: 0 }, "changed"],
    "of the same size and time is the same": [present, "same"],
    "of the same size and another time is unknown": [{ ...present, mtimeMs: 1_001 }, "unknown"],
    "of the same size and an earlier time is unknown": [{ ...present, mtimeMs: 999 }, "unknown"],
    "that is a link is changed": [{ ...present, isFile: false }, "changed"],
  } as const;
  for (const [fact, [there, verdict]] of Object.entries(facts))
    test(fact, () => assert.equal(compareFile(entry, there), verdict));
});

let base: string;
let store: Folder;
const sums = new Map<string, string>();
const at = (...names: string[]) => join(base, ...names);
const most = { files: 1_000, bytes: 1 << 20 };
const reading = { bytes: 1 << 20, timeMs: 60_000 };
const then = new Date("2026-01-02T00:00:00Z");
const later = new Date("2026-01-03T00:00:00Z");
const secret = (text: string) => `proxies:\n  velocity:\n    secret: ${text}\n`;

async function write(names: Record<string, string>, time = then): Promise<void> {
  for (const [name, text] of Object.entries(names)) {
    await mkdir(at("world", name, ".."), { recursive: true });
    await rm(at("world", name), { recursive: true, force: true });
    await writeFile(at("world", name), text);
    await utimes(at("world", name), time, time);
  }
}

const old = { "level.dat": "one", "region/a": "a", "region/b": "bb", gone: "gone", same: "same" };

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-plan-"));
  await mkdir(at("store"));
  store = await Folder.openRoot(at("store"));
});
after(async () => {
  await store.close();
  await rm(base, { recursive: true });
});

/** The world as the backup has it, in each form that an archive has, and then as it is now. */
async function prepare(): Promise<void> {
  await rm(at("world"), { recursive: true, force: true });
  await write({ ...old, touched: "t", rewritten: "old", "kind/inner": "inner", "as-file": "file" });
  await write({ "config/paper-global.yml": secret("short") });
  await mkdir(at("world", "empty"));
  await writeFile(at("world", "sparse"), "data");
  await truncate(at("world", "sparse"), 8 << 20);
  await utimes(at("world", "sparse"), then, then);
  if (sums.size === 0) await keep();
  await write({ "level.dat": "longer", "region/new": "new", "plugins/x/y": "y" });
  await write({ touched: "t", rewritten: "new" }, later);
  await rm(at("world", "gone"));
  await rm(at("world", "kind"), { recursive: true });
  await rm(at("world", "as-file"));
  await write({ kind: "a file now", "as-file/inner": "in a folder now" });
  await symlink("level.dat", at("world", "link"));
  await mkdir(at("world", "lost+found"));
  await write({ "lost+found/found": "found" });
}

async function keep(): Promise<void> {
  await using world = await Folder.openRoot(at("world"));
  const about = { world, store, keepFree: 0, fileDigests: true };
  const note = async (name: string, making: Promise<{ sha256: string }>) =>
    sums.set(name, (await making).sha256);
  for (const end of ["zst", "gz"])
    await note(`whole-1.tar.${end}`, storeArchive({ ...about, name: `whole-1.tar.${end}` }));
  await note("chunks-1.tar.zst", storeDeduplicated({ ...about, name: "chunks-1.tar.zst" }));
  const older = withDigests(await readFile(at("store", "whole-1.tar.zst")), () => undefined);
  await writeFile(at("store", "older-1.tar.zst"), older);
  sums.set("older-1.tar.zst", createHash("sha256").update(older).digest("hex"));
}

/** What lies at each path that is no folder. */
async function contents(world: Folder): Promise<Map<string, string>> {
  const all = (await treeOf(world)).filter(({ kind }) => kind !== "folder");
  return new Map(all.map(({ path, kind, sha256 }) => [path, `${kind} ${sha256}`]));
}

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const secretFile = "config/paper-global.yml";
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => path !== secretFile && before.get(path) !== after.get(path))
    .map((path) => `${!before.has(path) ? "added" : after.has(path) ? "changed" : "removed"} ${path}`);
}

type About = Partial<Parameters<typeof planRestore>[2]>;

async function plan(name: string, about: About = {}) {
  await using world = await Folder.openRoot(at("world"));
  await using file = await openStored(store, name);
  return await planRestore(world, await openArchive(file), { most, reading, ...about });
}

const wordsOf = ({ files }: { files: readonly RestoreChange[] }) =>
  files.map(({ path, change, may_be_same }) => `${change} ${path}${may_be_same ? " ?" : ""}`);

const unquestioned = [
  "added gone",
  "added kind/inner",
  "changed level.dat",
  "removed as-file/inner",
  "removed kind",
  "removed link",
  "removed plugins/x/y",
  "removed region/new",
  "added as-file",
];
const sorted = (words: readonly string[]) => [...words].sort();

describe("the plan of a restore of the whole world", () => {
  for (const name of ["whole-1.tar.zst", "chunks-1.tar.zst"])
    test(`tells by digests which files change, from ${name}`, async () => {
      await prepare();
      const found = await plan(name);
      assert.deepEqual(sorted(wordsOf(found)), sorted([...unquestioned, "changed rewritten"]));
      const { added, changed, removed, same, may_be_same, truncated } = found;
      assert.deepEqual([added, changed, removed, same], [3, 2, 5, 6]);
      assert.deepEqual([may_be_same, truncated], [0, false]);
      const { added_bytes, changed_bytes, removed_bytes } = found;
      assert.deepEqual([added_bytes, changed_bytes, removed_bytes], [13, 6, 29]);
      const level = found.files.find(({ path }) => path === "level.dat");
      assert.deepEqual(level, { path: "level.dat", change: "changed", size: 3, was: 6 });
    });

  for (const name of ["older-1.tar.zst", "whole-1.tar.gz"])
    test(`says which files may be the same without digests, from ${name}`, async () => {
      await prepare();
      const found = await plan(name);
      const words = [...unquestioned, "changed rewritten ?", "changed touched ?"];
      assert.deepEqual(sorted(wordsOf(found)), sorted(words));
      assert.deepEqual([found.changed, found.may_be_same, found.same], [3, 2, 5]);
    });

  test("says so too where reading all of them would take too long", async () => {
    await prepare();
    const words = [...unquestioned, "changed rewritten ?", "changed touched ?"];
    const few = await plan("whole-1.tar.zst", { reading: { bytes: 0, timeMs: 60_000 } });
    assert.deepEqual(sorted(wordsOf(few)), sorted(words));
    const late = await plan("whole-1.tar.zst", { reading: { bytes: 1 << 20, timeMs: 0 } });
    assert.deepEqual(sorted(wordsOf(late)), sorted(words));
    const one = await plan("whole-1.tar.zst", { reading: { bytes: 3, timeMs: 60_000 } });
    assert.equal(one.may_be_same, 1);
  });

  for (const name of ["whole-1.tar.zst", "chunks-1.tar.zst", "older-1.tar.zst", "whole-1.tar.gz"])
    test(`is what the restore then does, from ${name}`, async () => {
      await prepare();
      const found = await plan(name);
      await using world = await Folder.openRoot(at("world"));
      const before = await contents(world);
      await using archive = await openStored(store, name);
      await restoreWorld({ world, archive, sha256: sums.get(name) ?? "" });
      const after = await contents(world);
      const done = differences(before, after);
      // What may be the same and is so was announced, and nothing else that did not happen.
      const announced = found.files.filter(
        ({ path, may_be_same }) => !may_be_same || before.get(path) !== after.get(path),
      );
      const words = announced.map(({ path, change }) => `${change} ${path}`);
      assert.deepEqual(sorted(words), sorted(done));
      const { added, changed, removed, same } = await plan(name);
      assert.deepEqual([added, changed, removed], [0, 0, 0]);
      assert.equal(same, 11);
    });

  test("has every file of the backup where there is no volume", async () => {
    await using file = await openStored(store, "whole-1.tar.zst");
    const found = await planRestore(undefined, await openArchive(file), { most, reading });
    assert.deepEqual([found.added, found.changed, found.removed, found.same], [11, 0, 0, 0]);
  });

  test("is cut at a number of files and of bytes, and counted whole", async () => {
    await prepare();
    const few = await plan("whole-1.tar.zst", { most: { files: 2, bytes: 1_000 } });
    assert.deepEqual(wordsOf(few), ["added as-file", "removed as-file/inner"]);
    assert.deepEqual([few.truncated, few.removed], [true, 5]);
    const short = await plan("whole-1.tar.zst", { most: { files: 10, bytes: 60 } });
    assert.deepEqual([wordsOf(short), short.truncated], [["added as-file"], true]);
  });

  test("writes nothing", async () => {
    await prepare();
    await using world = await Folder.openRoot(at("world"));
    const before = await treeOf(world, { withHidden: true });
    await plan("whole-1.tar.zst");
    assert.deepEqual(await treeOf(world, { withHidden: true }), before);
  });
});

describe("the plan of a restore of some files", () => {
  const of = async (...only: string[]) => plan("whole-1.tar.zst", { only });

  test("names only what they add and change, and removes nothing", async () => {
    await prepare();
    assert.deepEqual(wordsOf(await of("region", "level.dat", "gone")), ["added gone", "changed level.dat"]);
    assert.deepEqual((await of("region")).same, 2);
    assert.deepEqual(wordsOf(await of("config", "touched")), []);
  });

  test("replaces a link by the file, as the restore does", async () => {
    await prepare();
    await rm(at("world", "same"));
    await symlink("level.dat", at("world", "same"));
    assert.deepEqual(wordsOf(await of("same")), ["changed same"]);
  });

  test("is refused for what is not in the backup", async () => {
    await prepare();
    await assert.rejects(of("region", "region/new"), (error) => isWorldFault(error, "not_found"));
    await assert.rejects(of("../up"), (error) => isWorldFault(error, "bad_path"));
  });

  for (const path of ["as-file", "kind", "kind/inner"])
    test(`is refused where the restore is, for ${path}, which is a folder on one side only`, async () => {
      await prepare();
      await using world = await Folder.openRoot(at("world"));
      await using archive = await openStored(store, "whole-1.tar.zst");
      const restoring = restorePaths({ world, archive, sha256: "", only: [path] });
      await assert.rejects(restoring, (error) => isWorldFault(error, "type_conflict"));
      await assert.rejects(of(path), (error) => isWorldFault(error, "type_conflict"));
    });
});

test("there is no plan of a restore from an archive whose index is damaged", async () => {
  const packed = withDigests(await readFile(at("store", "whole-1.tar.zst")), (digests) =>
    digests.subarray(32),
  );
  await writeFile(at("store", "wrong-1.tar.zst"), packed);
  await assert.rejects(plan("wrong-1.tar.zst"), (error) => isWorldFault(error, "backup_corrupt"));
});
