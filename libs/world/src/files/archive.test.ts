import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { TaskFault } from "@svc/proto/world-task";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { treeOf } from "../testing/tree.ts";
import { unzip } from "../zip/unzip.ts";
import { archiveFiles } from "./archive.ts";

let base: string;
let world: Folder;
const at = (...names: string[]) => join(base, "world", ...names);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-archive-"));
  await mkdir(at("config"), { recursive: true });
  await mkdir(at("plugins", "inner", "empty"), { recursive: true });
  await writeFile(at("server.properties"), "motd=hi\nrcon.password=hush\n");
  await writeFile(at("config", "paper-global.yml"), "secret: velocity");
  await writeFile(at("config", "b.yml"), "b");
  await writeFile(at("plugins", "a.jar"), "jar", { mode: 0o640 });
  await writeFile(at("plugins", "inner", "世界.yml"), "w: 1");
  await writeFile(join(base, "outside"), "outside");
  world = await Folder.openRoot(at());
});
afterEach(async () => {
  await world.close();
  await rm(base, { recursive: true });
});

const limits = { entries: 100, bytes: 1 << 24, leftOut: 20 };
const archive = (path: string, names: string[], some: Partial<typeof limits> = {}) =>
  archiveFiles(world, { path, names, limits: { ...limits, ...some } });
/** Resolves when the partial of an archive is made. */
async function begun(): Promise<void> {
  const watcher = watch(at());
  await once(watcher, "change");
  watcher.close();
}
const listed = (path: string) =>
  execFileSync("unzip", ["-Z1", at(path)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .sort();
const contentOf = (path: string, name: string) =>
  execFileSync("unzip", ["-p", at(path), name], { encoding: "utf8" });

test("files and folders are packed under their names, and unzip brings the same back", async () => {
  const before = await treeOf(world);
  const archived = await archive("plugins/both.zip", ["a.jar", "inner"]);
  assert.deepEqual(listed("plugins/both.zip"), ["a.jar", "inner/", "inner/empty/", "inner/世界.yml"]);
  const { size, mode } = await stat(at("plugins", "both.zip"));
  assert.deepEqual(archived, { entries: 4, sizeBytes: size, leftOut: [], leftOutCount: 0 });
  assert.equal(mode & 0o777, 0o644);
  for (const name of ["a.jar", "inner"]) await rm(at("plugins", name), { recursive: true });
  await unzip({ world, path: "plugins/both.zip", overwrite: false });
  await rm(at("plugins", "both.zip"));
  const bare = (tree: typeof before) => tree.map(({ path, kind, sha256 }) => [path, kind, sha256]);
  assert.deepEqual(bare(await treeOf(world)), bare(before));
});

test("what is large and does not compress comes whole, and names need no order", async () => {
  const large = Buffer.alloc(9 << 20, "0123456789abcdef");
  await writeFile(at("plugins", "large.bin"), large);
  await archive("plugins/large.ZIP", ["large.bin", "a.jar"]);
  const packed = execFileSync("unzip", ["-p", at("plugins/large.ZIP"), "large.bin"], { maxBuffer: 1 << 25 });
  assert.ok(packed.equals(large));
});

test("links, pipes and secrets are left out and named, and the password is masked", async () => {
  await symlink(join(base, "outside"), at("config", "leak"));
  await symlink(base, at("config", "up"));
  execFileSync("mkfifo", [at("config", "pipe")]);
  await link(at("config", "paper-global.yml"), at("innocent.txt"));
  await link(at("server.properties"), at("props.txt"));
  const archived = await archive("all.zip", ["config", "innocent.txt", "props.txt", "server.properties"]);
  assert.deepEqual(archived.leftOut, [
    { path: "config/leak", reason: "special" },
    { path: "config/paper-global.yml", reason: "protected" },
    { path: "config/pipe", reason: "special" },
    { path: "config/up", reason: "special" },
    { path: "innocent.txt", reason: "protected" },
  ]);
  assert.equal(archived.leftOutCount, 5);
  assert.deepEqual(listed("all.zip"), ["config/", "config/b.yml", "props.txt", "server.properties"]);
  for (const name of ["props.txt", "server.properties"])
    assert.equal(contentOf("all.zip", name), "motd=hi\nrcon.password=********\n");
  const link1 = await archive("one.zip", ["config", "props.txt"], { leftOut: 1 });
  assert.deepEqual([link1.leftOut.length, link1.leftOutCount], [1, 4]);
  const chosen = await archive("config/link.zip", ["leak", "b.yml"]);
  assert.deepEqual(chosen.leftOut, [{ path: "config/leak", reason: "special" }]);
});

describe("what is refused changes nothing and leaves nothing", () => {
  type Case = [fact: string, code: TaskFault["code"], act: () => Promise<unknown>];
  const cases: Case[] = [
    ["over a file", "file_exists", () => archive("plugins/a.jar", ["inner"])],
    ["over a folder", "file_exists", () => archive("plugins", ["config"])],
    ["of what is not there", "not_found", () => archive("a.zip", ["config", "nowhere"])],
    ["in a folder that is not there", "not_found", () => archive("nowhere/a.zip", ["a"])],
    ["through a link", "bad_path", () => archive("up/a.zip", ["world"])],
    ["outside", "bad_path", () => archive("../a.zip", ["world"])],
    ["of what lies deeper", "bad_path", () => archive("a.zip", ["plugins/a.jar"])],
    ["of what lies outside", "bad_path", () => archive("a.zip", [".."])],
    ["to a hidden name", "bad_path", () => archive(".svc-a.zip", ["plugins"])],
    ["of more entries than fit", "too_large", () => archive("a.zip", ["plugins", "config"], { entries: 5 })],
    ["of more bytes than fit", "too_large", () => archive("a.zip", ["plugins", "config"], { bytes: 7 })],
  ];
  for (const [fact, code, act] of cases)
    test(`${fact}: ${code}`, async () => {
      await symlink(base, at("up"));
      const before = await treeOf(world, { withHidden: true });
      await assert.rejects(act(), (error) => isWorldFault(error, code));
      assert.deepEqual(await treeOf(world, { withHidden: true }), before);
      assert.deepEqual((await readdir(base)).sort(), ["outside", "world"]);
    });

  test("the limits themselves fit", async () => {
    assert.equal((await archive("a.zip", ["plugins"], { entries: 5, bytes: 7 })).entries, 5);
  });

  test("stopped in the middle, it ends at once and leaves no partial", async () => {
    await writeFile(at("plugins", "large.bin"), Buffer.alloc(12 << 20, "abc"));
    const before = await treeOf(world, { withHidden: true });
    const stopping = new AbortController();
    const isBegun = begun();
    const working = archiveFiles(world, {
      path: "a.zip",
      names: ["plugins"],
      limits,
      signal: stopping.signal,
    });
    const refused = assert.rejects(working, /the Job was stopped|aborted/);
    await isBegun;
    stopping.abort(new Error("the Job was stopped"));
    await refused;
    assert.deepEqual(await treeOf(world, { withHidden: true }), before);
  });

  test("a name that is taken in the meantime is not replaced", async () => {
    await writeFile(at("plugins", "large.bin"), Buffer.alloc(12 << 20, "abc"));
    const isBegun = begun();
    const working = archive("a.zip", ["plugins"]);
    const refused = assert.rejects(working, (error) => isWorldFault(error, "file_exists"));
    await isBegun;
    await writeFile(at("a.zip"), "mine");
    await refused;
    assert.equal(await readFile(at("a.zip"), "utf8"), "mine");
  });
});
