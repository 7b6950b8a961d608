import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import type { TaskFault } from "@svc/proto/world-task";
import { openArchive } from "../archive/open.ts";
import { readTar } from "../archive/tar-reader.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { treeOf } from "../testing/tree.ts";
import { makeFolder, removePath, renamePath } from "./change.ts";
import { digestOf, listFolder, readSmallFile } from "./read.ts";
import { openDownload, sendFolder, sendWorld } from "./send.ts";
import { commitUpload, writeSmallFile } from "./write.ts";

let base: string;
let world: Folder;
const at = (...names: string[]) => join(base, ...names);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-files-"));
  await mkdir(at("world", "config"), { recursive: true });
  await mkdir(at("world", "plugins", "inner"), { recursive: true });
  await writeFile(at("world", "server.properties"), "motd=hi\r\nrcon.password=hush\r\n");
  await writeFile(at("world", "config", "paper-global.yml"), "secret: velocity");
  await writeFile(at("world", "plugins", "a.jar"), "jar", { mode: 0o640 });
  await writeFile(at("world", "plugins", "inner", "b.yml"), "b: 1");
  await writeFile(at("secret"), "outside");
  await symlink(at("secret"), at("world", "leak"));
  await symlink(base, at("world", "out"));
  await link(at("world", "config", "paper-global.yml"), at("world", "innocent.txt"));
  await link(at("world", "server.properties"), at("world", "props.txt"));
  world = await Folder.openRoot(at("world"));
});
afterEach(async () => {
  await world.close();
  await rm(base, { recursive: true });
});

const write = (path: string, text: string, options: { expectSha256?: string; createOnly?: boolean } = {}) => {
  const content = Buffer.from(text);
  return writeSmallFile(world, { path, content, contentSha256: digestOf(content), ...options });
};
const upload = (path: string, text: string, overwrite = false) =>
  commitUpload(world, {
    path,
    overwrite,
    parts: [{ size: Buffer.byteLength(text), sha256: digestOf(Buffer.from(text)) }],
    content: (async function* () {
      yield Buffer.from(text);
    })(),
  });
const text = (...names: string[]) => readFile(at("world", ...names), "utf8");

describe("what is refused changes nothing", () => {
  const wrong = "0".repeat(64);
  const table: [fact: string, code: TaskFault["code"], act: () => Promise<unknown>][] = [
    ["a list of what is not there", "not_found", () => listFolder(world, "nowhere", { most: 10 })],
    ["a list of a file", "bad_path", () => listFolder(world, "plugins/a.jar", { most: 10 })],
    ["a list through a link", "bad_path", () => listFolder(world, "out", { most: 10 })],
    ["a list outside", "bad_path", () => listFolder(world, "../", { most: 10 })],
    ["a read through a link", "bad_path", () => readSmallFile(world, "leak", 100)],
    ["a read below a link", "bad_path", () => readSmallFile(world, "out/secret", 100)],
    ["a read of a folder", "bad_path", () => readSmallFile(world, "plugins", 100)],
    ["a read of the root", "bad_path", () => readSmallFile(world, "", 100)],
    ["a read of what is not there", "not_found", () => readSmallFile(world, "plugins/c", 100)],
    ["a read of too much", "too_large", () => readSmallFile(world, "plugins/a.jar", 2)],
    [
      "a read of the forwarding secret",
      "bad_path",
      () => readSmallFile(world, "config/paper-global.yml", 100),
    ],
    ["a read of it under another name", "bad_path", () => readSmallFile(world, "innocent.txt", 100)],
    [
      "a write of another digest",
      "digest_mismatch",
      () => writeSmallFile(world, { path: "n", content: Buffer.from("x"), contentSha256: wrong }),
    ],
    ["a write without its folder", "not_found", () => write("none/x", "x")],
    ["a write over a folder", "bad_path", () => write("plugins", "x")],
    ["a write over a link", "bad_path", () => write("leak", "x")],
    ["a write below a link", "bad_path", () => write("out/x", "x")],
    ["a write of server.properties", "bad_path", () => write("server.properties", "x")],
    ["a write of it under another name", "bad_path", () => write("props.txt", "x")],
    ["a write of the forwarding secret", "bad_path", () => write("config/paper-global.yml", "x")],
    ["a write that must create", "file_exists", () => write("plugins/a.jar", "x", { createOnly: true })],
    ["a write after a change", "file_changed", () => write("plugins/a.jar", "x", { expectSha256: wrong })],
    ["a write after a removal", "file_changed", () => write("plugins/gone", "x", { expectSha256: wrong })],
    ["a write to a hidden name", "bad_path", () => write(".svc-restore-1", "x")],
    ["a folder that is there", "file_exists", () => makeFolder(world, "plugins")],
    ["a folder of two levels", "not_found", () => makeFolder(world, "x/y")],
    ["a folder below a link", "bad_path", () => makeFolder(world, "out/x")],
    ["a folder at the root itself", "bad_path", () => makeFolder(world, ".")],
    ["a removal of the root", "bad_path", () => removePath(world, "")],
    ["a removal of nothing", "not_found", () => removePath(world, "nothing")],
    ["a removal below a link", "bad_path", () => removePath(world, "out/secret")],
    [
      "a removal of a folder that must be a file",
      "type_conflict",
      () => removePath(world, "plugins", "file"),
    ],
    ["a removal of nothing as a file", "not_found", () => removePath(world, "nothing", "file")],
    [
      "a removal of a file that must be an empty folder",
      "type_conflict",
      () => removePath(world, "plugins/a.jar", "empty_folder"),
    ],
    [
      "a removal of a link that must be an empty folder",
      "type_conflict",
      () => removePath(world, "out", "empty_folder"),
    ],
    [
      "a removal of a folder that must be empty",
      "file_exists",
      () => removePath(world, "plugins", "empty_folder"),
    ],
    [
      "a removal below a link of what must be a file",
      "bad_path",
      () => removePath(world, "out/secret", "file"),
    ],
    ["a rename over a file", "file_exists", () => renamePath(world, "plugins/inner/b.yml", "plugins/a.jar")],
    ["a rename over a folder", "file_exists", () => renamePath(world, "plugins/a.jar", "plugins/inner")],
    ["a rename into itself", "bad_path", () => renamePath(world, "plugins", "plugins/inner/deeper")],
    ["a rename out", "bad_path", () => renamePath(world, "plugins/a.jar", "../a.jar")],
    ["a rename out by a link", "bad_path", () => renamePath(world, "plugins/a.jar", "out/a.jar")],
    ["a rename of nothing", "not_found", () => renamePath(world, "nothing", "x")],
    [
      "a rename to a folder that is not there",
      "not_found",
      () => renamePath(world, "plugins/a.jar", "x/a.jar"),
    ],
    ["a rename of server.properties", "bad_path", () => renamePath(world, "server.properties", "x")],
    ["a rename of it under another name", "bad_path", () => renamePath(world, "props.txt", "x")],
    ["a rename of config", "bad_path", () => renamePath(world, "config", "x")],
    [
      "a rename of the forwarding secret",
      "bad_path",
      () => renamePath(world, "config/paper-global.yml", "x.yml"),
    ],
    ["a rename to a hidden name", "bad_path", () => renamePath(world, "plugins/a.jar", ".svc-x")],
    ["an upload over a file", "file_exists", () => upload("plugins/a.jar", "new")],
    ["an upload over a folder", "bad_path", () => upload("plugins", "new", true)],
    ["an upload over server.properties", "bad_path", () => upload("server.properties", "new", true)],
    [
      "an upload of other bytes",
      "digest_mismatch",
      () =>
        commitUpload(world, {
          path: "n",
          overwrite: false,
          parts: [{ size: 1, sha256: wrong }],
          content: (async function* () {
            yield Buffer.from("x");
          })(),
        }),
    ],
    [
      "an upload of more bytes",
      "digest_mismatch",
      () =>
        commitUpload(world, {
          path: "n",
          overwrite: false,
          parts: [{ size: 1, sha256: digestOf(Buffer.from("x")) }],
          content: (async function* () {
            yield Buffer.from("xx");
          })(),
        }),
    ],
    ["a download through a link", "bad_path", () => openDownload(world, "leak")],
    ["a download of the forwarding secret", "bad_path", () => openDownload(world, "innocent.txt")],
    [
      "a download of a file as a folder",
      "bad_path",
      () => sendFolder(world, "plugins/a.jar", { write: async () => {} }),
    ],
  ];
  for (const [fact, code, act] of table) {
    test(`${fact} is ${code}`, async () => {
      const before = await treeOf(world, { withHidden: true });
      await assert.rejects(act(), (error) => isWorldFault(error, code));
      assert.deepEqual(await treeOf(world, { withHidden: true }), before);
      assert.equal(await readFile(at("secret"), "utf8"), "outside");
    });
  }
});

describe("files of a world", () => {
  test("a list shows names, sizes and kinds, and says when there are more", async () => {
    await writeFile(at("world", ".svc-write-1"), "hidden");
    const { listing, truncated, freeBytes } = await listFolder(world, "", { most: 100 });
    assert.deepEqual(
      listing.map(({ name, size, is_dir }) => [name, is_dir ? "folder" : size]),
      [
        ["config", "folder"],
        ["innocent.txt", 16],
        ["leak", at("secret").length],
        ["out", base.length],
        ["plugins", "folder"],
        ["props.txt", 29],
        ["server.properties", 29],
      ],
    );
    assert.equal(truncated, false);
    assert.ok((freeBytes ?? 0) > 0);
    const cut = await listFolder(world, "", { most: 2 });
    assert.deepEqual([cut.listing.length, cut.truncated], [2, true]);
  });

  test("a folder of any size is listed page by page, each from the last name of the one before", async () => {
    const names = ["Z", "a", "b", "ä", "日本", "💎"];
    for (const name of names) await writeFile(at("world", "plugins", "inner", name), name);
    await writeFile(
      Buffer.concat([Buffer.from(at("world", "plugins", "inner", "raw")), Buffer.of(0xff)]),
      "raw",
    );
    const seen: string[] = [];
    for (let from: string | undefined, isMore = true; isMore; ) {
      const { listing, truncated } = await listFolder(world, "plugins/inner", { most: 2, from });
      seen.push(...listing.map(({ name }) => name).filter((name) => name !== from));
      from = seen.at(-1);
      isMore = truncated;
    }
    assert.deepEqual(seen, ["Z", "a", "b", "b.yml", "raw\ufffd", "ä", "日本", "💎"]);
    const { listing } = await listFolder(world, "plugins/inner", { most: 2, from: "zzz" });
    assert.deepEqual(
      listing.map(({ name }) => name),
      ["ä", "日本"],
    );
  });

  test("server.properties is read with its password masked under every name, and both digests are told", async () => {
    for (const name of ["server.properties", "props.txt"]) {
      const { content, sha256, contentSha256 } = await readSmallFile(world, name, 100);
      assert.equal(content.toString(), "motd=hi\r\nrcon.password=********\r\n");
      assert.equal(sha256, digestOf(Buffer.from("motd=hi\r\nrcon.password=hush\r\n")));
      assert.equal(contentSha256, digestOf(content));
    }
  });

  test("a write replaces a file as a whole and keeps its mode", async () => {
    const { sha256 } = await readSmallFile(world, "plugins/a.jar", 100);
    await write("plugins/a.jar", "changed", { expectSha256: sha256 });
    assert.equal(await text("plugins", "a.jar"), "changed");
    assert.equal((await stat(at("world", "plugins", "a.jar"))).mode & 0o777, 0o640);
    await write("plugins/new.yml", "new", { createOnly: true });
    assert.equal(await text("plugins", "new.yml"), "new");
  });

  test("a folder is made, renamed and removed with all that is in it, links not followed", async () => {
    await makeFolder(world, "plugins/made");
    await symlink(base, at("world", "plugins", "made", "up"));
    await renamePath(world, "plugins", "mods");
    assert.deepEqual((await readdir(at("world", "mods"))).sort(), ["a.jar", "inner", "made"]);
    await removePath(world, "mods");
    await removePath(world, "leak");
    assert.equal(await readFile(at("secret"), "utf8"), "outside");
    assert.deepEqual((await readdir(at("world"))).sort(), [
      "config",
      "innocent.txt",
      "out",
      "props.txt",
      "server.properties",
    ]);
  });

  test("a file, a link itself and an empty folder go when they must be that", async () => {
    await removePath(world, "plugins/inner/b.yml", "file");
    await removePath(world, "leak", "file");
    await removePath(world, "plugins/inner", "empty_folder");
    assert.deepEqual(await readdir(at("world", "plugins")), ["a.jar"]);
    assert.equal(await readFile(at("secret"), "utf8"), "outside");
  });

  test("a file that arrives in a folder while it is deleted as an empty one is never lost", async () => {
    for (let round = 0; round < 50; round++) {
      await mkdir(at("world", "busy"));
      const [removal, arrival] = await Promise.allSettled([
        removePath(world, "busy", "empty_folder"),
        writeFile(at("world", "busy", "new"), "new"),
      ]);
      assert.notEqual(removal.status, arrival.status, "either the folder goes or the file stays");
      if (removal.status === "fulfilled") continue;
      assert.ok(isWorldFault(removal.reason, "file_exists"));
      assert.equal(await readFile(at("world", "busy", "new"), "utf8"), "new");
      await removePath(world, "busy");
    }
  });

  test("an upload lands as a whole, over a file only when that is wanted", async () => {
    await upload("plugins/b.jar", "second");
    assert.equal(await text("plugins", "b.jar"), "second");
    await upload("plugins/a.jar", "first", true);
    assert.equal(await text("plugins", "a.jar"), "first");
    assert.equal((await stat(at("world", "plugins", "a.jar"))).mode & 0o777, 0o640);
  });

  for (const compression of ["gzip", "zstd"] as const) {
    test(`a world leaves as ${compression} without the secret of the proxy and with the password masked`, async () => {
      const chunks: Buffer[] = [];
      await sendWorld(world, { compression, write: async (chunk) => void chunks.push(Buffer.from(chunk)) });
      await writeFile(at("sent"), Buffer.concat(chunks));
      await using folder = await Folder.openRoot(base);
      await using file = await folder.openFile("sent");
      const contents = new Map<string, string>();
      for await (const entry of readTar((await openArchive(file)).readAll().plain)) {
        let content = "";
        for await (const chunk of entry.content()) content += chunk.toString();
        contents.set(entry.path, content);
      }
      assert.deepEqual([...contents.keys()].sort(), [
        "config",
        "plugins",
        "plugins/a.jar",
        "plugins/inner",
        "plugins/inner/b.yml",
        "props.txt",
        "server.properties",
      ]);
      assert.equal(
        [...contents.values()].some((content) => /hush|velocity|outside/.test(content)),
        false,
      );
    });
  }

  test("a folder leaves as a zip that unzip takes, links and secrets left out", async () => {
    await link(at("world", "config", "paper-global.yml"), at("world", "plugins", "x.yml"));
    await link(at("world", "server.properties"), at("world", "plugins", "p.txt"));
    await symlink(at("secret"), at("world", "plugins", "leak"));
    await writeFile(at("world", "plugins", "large.bin"), Buffer.alloc(3 << 20, 7));
    const chunks: Buffer[] = [];
    await sendFolder(world, "plugins", { write: async (chunk) => void chunks.push(Buffer.from(chunk)) });
    await writeFile(at("plugins.zip"), Buffer.concat(chunks));
    await mkdir(at("unzipped"));
    execFileSync("unzip", ["-q", at("plugins.zip"), "-d", at("unzipped")]);
    assert.deepEqual((await readdir(at("unzipped", "plugins"))).sort(), [
      "a.jar",
      "inner",
      "large.bin",
      "p.txt",
    ]);
    assert.equal(
      (await readFile(at("unzipped", "plugins", "large.bin"))).equals(Buffer.alloc(3 << 20, 7)),
      true,
    );
    assert.equal((await readFile(at("unzipped", "plugins", "p.txt"), "utf8")).includes("hush"), false);
    assert.equal(await readFile(at("unzipped", "plugins", "inner", "b.yml"), "utf8"), "b: 1");
  });

  test("a file leaves with its length, masked where it must be", async () => {
    await using file = await openDownload(world, "props.txt");
    const chunks: Buffer[] = [];
    await file.send(async (chunk) => void chunks.push(chunk));
    assert.equal(Buffer.concat(chunks).toString(), "motd=hi\r\nrcon.password=********\r\n");
    assert.equal(file.length, Buffer.concat(chunks).length);
  });
});
