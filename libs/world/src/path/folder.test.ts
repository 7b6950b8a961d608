import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isWorldFault } from "../fault.ts";
import { Folder } from "./folder.ts";
import { parsePath, parseTarget } from "./parse.ts";
import { assertMovable, findProtected, isForwarding, isProperties, maskPassword } from "./protect.ts";
import { removeTree } from "./remove-tree.ts";

const isBadPath = (error: unknown) => isWorldFault(error, "bad_path");

describe("a path", () => {
  const good: [text: string, names: string[]][] = [
    ["", []],
    [".", []],
    ["world/region", ["world", "region"]],
    ["./world//region/", ["world", "region"]],
    ["with space/ünïcode.txt", ["with space", "ünïcode.txt"]],
    ["a\nb", ["a\nb"]],
    ["...", ["..."]],
  ];
  for (const [text, names] of good) {
    test(`${JSON.stringify(text)} is taken`, () => assert.deepEqual(parsePath(text), names));
  }
  const bad = [
    "..",
    "a/../b",
    "../etc/passwd",
    "/etc/passwd",
    "a\0b",
    "a\\b",
    "C:/windows",
    "c:x",
    `${"x".repeat(256)}`,
    "x/".repeat(2_100),
    ".svc-restore-1/a",
    "a/.svc-part",
    "\ud800",
    "bad\ufffdname",
  ];
  for (const text of bad) {
    test(`${JSON.stringify(text.slice(0, 24))} is refused`, () =>
      assert.throws(() => parsePath(text), isBadPath));
  }
  test("the root itself is not a target", () => {
    assert.throws(() => parseTarget("./"), isBadPath);
    assert.deepEqual(parseTarget("a/b"), { parents: ["a"], name: "b" });
  });
});

describe("a folder", () => {
  let base: string;
  let world: string;
  let root: Folder;
  before(async () => {
    base = await mkdtemp(join(tmpdir(), "svc-world-"));
    world = join(base, "world");
    await mkdir(join(world, "config"), { recursive: true });
    await writeFile(join(base, "secret"), "outside");
    await mkdir(join(base, "outside"));
    await writeFile(join(world, "plain.txt"), "inside");
    root = await Folder.openRoot(world);
  });
  after(async () => {
    await root.close();
    await rm(base, { recursive: true });
  });

  test("a link is neither entered nor opened, wherever it leads", async () => {
    await symlink(join(base, "outside"), join(world, "out"));
    await symlink("config", join(world, "in"));
    await symlink(join(base, "secret"), join(world, "leak"));
    await assert.rejects(root.descend(["out"]), isBadPath);
    await assert.rejects(root.descend(["in"]), isBadPath);
    await assert.rejects(root.openFile("leak"), isBadPath);
  });

  test("a folder swapped for a link after it was opened leads nowhere else", async () => {
    await mkdir(join(world, "swap"));
    await using inner = await root.descend(["swap"]);
    await rename(join(world, "swap"), join(world, "swap-moved"));
    await symlink(join(base, "outside"), join(world, "swap"));
    await using file = await inner.createFile("new.txt");
    await file.writeFile("x");
    assert.deepEqual(await readdir(join(base, "outside")), []);
    assert.deepEqual(await readdir(join(world, "swap-moved")), ["new.txt"]);
  });

  test("a pipe and a device are not files, and opening one does not wait", async () => {
    execFileSync("mkfifo", [join(world, "pipe")]);
    await assert.rejects(root.openFile("pipe"), isBadPath);
    await assert.rejects(root.createFile("pipe"), (error: unknown) => isWorldFault(error, "file_exists"));
  });

  test("names that go up are refused by every call", async () => {
    for (const name of ["..", "a/b", "", "."]) {
      await assert.rejects(root.enter(name), isBadPath);
      await assert.rejects(root.openFile(name), isBadPath);
      await assert.rejects(root.createFile(name), isBadPath);
      await assert.rejects(removeTree(root, name), isBadPath);
      await assert.rejects(root.move("plain.txt", { name }), isBadPath);
    }
  });

  test("moving to a free place never replaces, neither files nor folders", async () => {
    const exists = (error: unknown) => isWorldFault(error, "file_exists");
    await writeFile(join(world, "one"), "1");
    await writeFile(join(world, "two"), "2");
    await mkdir(join(world, "dir-one"));
    await mkdir(join(world, "dir-two"));
    await assert.rejects(root.moveToFree("one", { name: "two" }), exists);
    await assert.rejects(root.moveToFree("dir-one", { name: "dir-two" }), exists);
    await assert.rejects(root.moveToFree("dir-one", { name: "two" }), exists);
    await root.moveToFree("one", { name: "three" });
    await root.moveToFree("dir-one", { name: "dir-three" });
    assert.equal(await readFile(join(world, "two"), "utf8"), "2");
    assert.equal(await readFile(join(world, "three"), "utf8"), "1");
    assert.equal((await readdir(world)).includes("one"), false);
  });

  test("removing a folder takes links in it, never what they lead to", async () => {
    await mkdir(join(world, "gone", "deep"), { recursive: true });
    await symlink(join(base, "outside"), join(world, "gone", "deep", "out"));
    await writeFile(join(base, "outside", "kept"), "kept");
    await removeTree(root, "gone");
    assert.equal(await readFile(join(base, "outside", "kept"), "utf8"), "kept");
    assert.equal(await root.find("gone"), undefined);
  });

  test("protected files are known under other names too", async () => {
    await writeFile(join(world, "server.properties"), "rcon.password=hush\nmotd=hi\n");
    await writeFile(join(world, "config", "paper-global.yml"), "secret: x");
    await link(join(world, "config", "paper-global.yml"), join(world, "innocent.txt"));
    const known = await findProtected(root);
    const innocent = await root.find("innocent.txt");
    assert.ok(innocent && isForwarding(known, innocent));
    const properties = await root.find("server.properties");
    assert.ok(properties && isProperties(known, properties));
    assert.throws(() => assertMovable(known, properties), isBadPath);
    const plain = await root.find("plain.txt");
    assert.ok(plain);
    assert.doesNotThrow(() => assertMovable(known, plain));
  });

  test("what a killed start left of a protected file has the same secrets, and may be removed", async () => {
    await writeFile(join(world, ".server.properties.svc-partial"), "rcon.password=hush\n");
    await writeFile(join(world, "config", ".paper-global.yml.svc-partial"), "secret: x");
    const known = await findProtected(root);
    const properties = await root.find(".server.properties.svc-partial");
    assert.ok(properties && isProperties(known, properties) && !isForwarding(known, properties));
    await using config = await root.enter("config");
    const forwarding = await config.find(".paper-global.yml.svc-partial");
    assert.ok(forwarding && isForwarding(known, forwarding) && !isProperties(known, forwarding));
    for (const file of [properties, forwarding]) assert.doesNotThrow(() => assertMovable(known, file));
  });

  test("the RCON password is masked however the line is written", () => {
    assert.equal(
      maskPassword("a=1\n rcon.password = hush now\nRCON.password:x\nb=2"),
      "a=1\n rcon.password = ********\nRCON.password:********\nb=2",
    );
  });
});
