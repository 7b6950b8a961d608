import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { link, readdir, symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, test } from "node:test";
import { crc32 } from "node:zlib";
import type { TaskFault } from "@svc/proto/world-task";
import { isWorldFault } from "../fault.ts";
import { treeOf } from "../testing/tree.ts";
import { type Made, makeZip } from "../testing/zip.ts";
import { openZipWorld, type ZipWorld } from "../testing/zip-world.ts";
import { unzip } from "./unzip.ts";

let opened: ZipWorld;
beforeEach(async () => {
  opened = await openZipWorld();
});
afterEach(() => opened[Symbol.asyncDispose]());

const { at, text, put, extract } = {
  at: (...names: string[]) => opened.at(...names),
  text: (...names: string[]) => opened.text(...names),
  put: (...args: Parameters<ZipWorld["put"]>) => opened.put(...args),
  extract: (...args: Parameters<ZipWorld["extract"]>) => opened.extract(...args),
};

const link_ = 0o120777;
const deep = `${"d/".repeat(32_100)}x`;
const zeros = Buffer.alloc(64 << 20);
/** 64 MiB of zeros shared by many entries: each is right for itself. */
function overlapping(): Buffer {
  const entry = { content: zeros, deflate: true };
  const claims = { headerAt: 0, size: zeros.length, packedSize: 65_000, crc32: crc32(zeros) };
  return makeZip([
    { name: "a", ...entry },
    ...Array.from(
      { length: 100 },
      (_, index): Made => ({
        name: `b${index}`,
        content: "",
        claims,
        method: 8,
      }),
    ),
  ]);
}

describe("a hostile zip is refused as a whole, and nothing in or out of the world changes", () => {
  const table: [fact: string, code: TaskFault["code"], zip: () => Buffer, setup?: () => Promise<unknown>][] =
    [
      ["a path that goes up", "archive_unsafe", () => makeZip([{ name: "ok" }, { name: "../evil" }])],
      ["one that goes up in the middle", "archive_unsafe", () => makeZip([{ name: "a/../../../evil" }])],
      ["one that goes up with backslashes", "archive_unsafe", () => makeZip([{ name: "..\\..\\evil" }])],
      ["an absolute path", "archive_unsafe", () => makeZip([{ name: "/etc/cron.d/evil" }])],
      ["an absolute path with a backslash", "archive_unsafe", () => makeZip([{ name: "\\evil" }])],
      ["a drive", "archive_unsafe", () => makeZip([{ name: "C:\\windows\\evil" }])],
      ["a drive without a slash", "archive_unsafe", () => makeZip([{ name: "c:evil" }])],
      ["a NUL in a name", "archive_unsafe", () => makeZip([{ name: "a\0.txt" }])],
      [
        "a name of overlong UTF-8",
        "archive_unsafe",
        () => makeZip([{ name: Buffer.from([0xc0, 0xae, 0xc0, 0xae, 0x2f, 0x78]), flags: 0x800 }]),
      ],
      ["a name in no encoding", "archive_unsafe", () => makeZip([{ name: Buffer.from([0x61, 0xff, 0xff]) }])],
      ["a name that is too long", "archive_unsafe", () => makeZip([{ name: "n".repeat(256) }])],
      ["a path that is too long", "archive_unsafe", () => makeZip([{ name: deep }])],
      ["an empty name", "archive_unsafe", () => makeZip([{ name: "" }])],
      [
        "a hidden name of ours",
        "archive_unsafe",
        () => makeZip([{ name: ".svc-restore-1/plan", content: "{}" }]),
      ],
      ["one deeper down", "archive_unsafe", () => makeZip([{ name: "a/.svc-x" }])],
      ["a symlink", "archive_symlink", () => makeZip([{ name: "l", content: "/etc/passwd", mode: link_ }])],
      [
        "a symlink and a file through it",
        "archive_symlink",
        () => makeZip([{ name: "l", content: "/tmp", mode: link_ }, { name: "l/evil" }]),
      ],
      ["a device", "archive_unsafe", () => makeZip([{ name: "null", mode: 0o020666 }])],
      ["a pipe", "archive_unsafe", () => makeZip([{ name: "pipe", mode: 0o010666 }])],
      ["a socket", "archive_unsafe", () => makeZip([{ name: "sock", mode: 0o140666 }])],
      [
        "two entries of one name",
        "archive_invalid",
        () =>
          makeZip([
            { name: "a", content: "1" },
            { name: "a", content: "2" },
          ]),
      ],
      ["two spellings of one name", "archive_invalid", () => makeZip([{ name: "d/a" }, { name: "./d//a" }])],
      ["a file that is a folder too", "type_conflict", () => makeZip([{ name: "a" }, { name: "a/b" }])],
      ["a folder that is a file later", "type_conflict", () => makeZip([{ name: "a/b" }, { name: "a" }])],
      [
        "a file where the world has a folder",
        "type_conflict",
        () => makeZip([{ name: "kept", content: "x" }]),
      ],
      ["a folder where the world has a file", "type_conflict", () => makeZip([{ name: "old.txt/x" }])],
      [
        "a folder where the world has a link",
        "type_conflict",
        () => makeZip([{ name: "way/evil", content: "x" }]),
        () => symlink(at("outside"), at("world", "packs", "way")),
      ],
      ["a file that is there", "file_exists", () => makeZip([{ name: "old.txt", content: "new" }])],
      [
        "a link that is there",
        "file_exists",
        () => makeZip([{ name: "way", content: "new" }]),
        () => symlink(at("outside", "x"), at("world", "packs", "way")),
      ],
      [
        "a wrong checksum",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "abc", claims: { crc32: 1 } }]),
      ],
      [
        "a size that is too small",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "abc".repeat(99), deflate: true, claims: { size: 3 } }]),
      ],
      [
        "a size that is too large",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "abc", deflate: true, claims: { size: 300 } }]),
      ],
      [
        "a large one that is larger than it says",
        "archive_invalid",
        () => makeZip([{ name: "a", content: zeros, deflate: true, claims: { size: 9 << 20 } }]),
      ],
      [
        "a large one that is smaller than it says",
        "archive_invalid",
        () => makeZip([{ name: "a", content: zeros, deflate: true, claims: { size: 99 << 20 } }]),
      ],
      [
        "a large one with a wrong checksum",
        "archive_invalid",
        () => makeZip([{ name: "a", content: zeros, deflate: true, claims: { crc32: 1 } }]),
      ],
      [
        "a stored one of two sizes",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "abc", claims: { size: 2 } }]),
      ],
      [
        "an entry beyond the end",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "abc", deflate: true, claims: { packedSize: 9_999 } }]),
      ],
      [
        "a header that is none",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "abc", claims: { headerAt: 1 } }]),
      ],
      ["entries that share their bytes", "archive_invalid", overlapping],
      ["more entries than are there", "archive_invalid", () => makeZip([{ name: "a" }], { count: 7 })],
      [
        "an encrypted entry",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "123456789012", flags: 1, claims: { size: 0 } }]),
      ],
      [
        "a method that nobody knows",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "abc", method: 99 }]),
      ],
      [
        "garbage instead of deflate",
        "archive_invalid",
        () => makeZip([{ name: "a", content: "garbage", method: 8, claims: { size: 99 } }]),
      ],
      ["half a zip", "archive_invalid", () => makeZip([{ name: "a", content: "abc" }]).subarray(0, 40)],
      ["no zip at all", "archive_invalid", () => randomBytes(100_000)],
      ["an empty file", "archive_invalid", () => Buffer.alloc(0)],
      [
        "one that says it holds more than the volume",
        "volume_full",
        () =>
          makeZip([
            { name: "a", content: zeros, deflate: true, claims: { size: 0xfffffffe } },
            ...Array.from({ length: 4_000 }, (_, index) => ({
              name: `b${index}`,
              content: "x",
              deflate: true,
              claims: { size: 0xfffffffe },
            })),
          ]),
      ],
    ];
  for (const [fact, code, zip, setup] of table) {
    for (const overwrite of code === "file_exists" ? [false] : [false, true]) {
      test(`${fact} is ${code}${overwrite ? ", overwriting or not" : ""}`, async () => {
        await setup?.();
        await put(zip());
        const before = await treeOf(opened.world, { withHidden: true });
        await assert.rejects(extract(overwrite), (error) => {
          assert.ok(isWorldFault(error, code), String(error));
          return true;
        });
        assert.deepEqual(await treeOf(opened.world, { withHidden: true }), before);
        assert.deepEqual(await readdir(at("outside")), []);
        assert.deepEqual((await readdir(at())).sort(), ["outside", "world"]);
      });
    }
  }

  test("files of the platform are bad_path at their places, under any spelling and behind any link", async () => {
    await link(at("world", "config", "paper-global.yml"), at("world", "alias.yml"));
    for (const name of [
      "server.properties",
      "./server.properties",
      "config/paper-global.yml",
      "config",
      "alias.yml",
    ]) {
      await put(makeZip([{ name, content: "rcon.password=mine" }]), "p.zip");
      await assert.rejects(extract(true, "p.zip"), (error) =>
        isWorldFault(error, "bad_path", "type_conflict"),
      );
    }
    assert.equal(await text("server.properties"), "motd=hi\n");
    assert.equal(await text("config", "paper-global.yml"), "secret");
  });

  test("with skip_protected everything else lands, and what was left out is named", async () => {
    await link(at("world", "config", "paper-global.yml"), at("world", "alias.yml"));
    const theirs = ["server.properties", "config/paper-global.yml", "alias.yml"];
    const pack = [
      { name: "config/mod.toml", content: "mod" },
      { name: "mods/a.jar", content: "a" },
      ...theirs.map((name) => ({ name, content: "rcon.password=theirs" })),
    ];
    await put(makeZip(pack), "p.zip");
    const done = await unzip({ world: opened.world, path: "p.zip", overwrite: false, skipProtected: true });
    assert.deepEqual(done, { files: 2, bytes: 4, leftOut: [...theirs].sort(), leftOutCount: 3 });
    assert.equal(await text("mods", "a.jar"), "a");
    assert.equal(await text("config", "mod.toml"), "mod");
    assert.equal(await text("server.properties"), "motd=hi\n");
    assert.equal(await text("config", "paper-global.yml"), "secret");
  });

  test("a mod pack that brings server.properties is told which file to take out, and lands without it", async () => {
    const pack = [
      { name: "config/", content: "" },
      { name: "config/mod.toml", content: "mod" },
      { name: "mods/a.jar", content: "a" },
    ];
    await put(makeZip([...pack, { name: "server.properties", content: "motd=theirs" }]), "p.zip");
    await assert.rejects(extract(true, "p.zip"), (error) => {
      assert.ok(isWorldFault(error, "bad_path"));
      assert.equal(error.fault.entry, "server.properties");
      assert.match(error.message, /^server\.properties is managed .* Take it out of the archive/);
      return true;
    });
    await assert.rejects(text("mods", "a.jar"));
    await put(makeZip(pack), "p.zip");
    assert.deepEqual(await extract(true, "p.zip"), { files: 2, bytes: 4 });
    assert.equal(await text("config", "mod.toml"), "mod");
    assert.equal(await text("config", "paper-global.yml"), "secret");
  });
});
