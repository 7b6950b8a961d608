import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type MadeTar, makeTar, paxRecord } from "../testing/tar.ts";
import { readContext } from "./read.ts";
import { contextLimits } from "./rules.ts";

const dockerfile: MadeTar = { path: "Dockerfile", content: "FROM scratch\n" };

async function* inPieces(bytes: Buffer, size = 1_000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

async function read(packed: Buffer, limits = contextLimits) {
  const reading = readContext(inPieces(packed), limits);
  const paths: string[] = [];
  for await (const { path, kind, target } of reading.entries)
    paths.push(`${kind} ${path}${target === undefined ? "" : ` -> ${target}`}`);
  return { paths, skipped: reading.skipped() };
}

const pack = (entries: readonly MadeTar[]) => gzipSync(makeTar([dockerfile, ...entries]));
const pax = (key: string, value: string): MadeTar => ({
  path: "p",
  type: "x",
  content: paxRecord(key, value),
});

describe("a context that can be unpacked", () => {
  test("its entries come in order with their kinds and targets", async () => {
    const packed = pack([
      { path: "./", type: "5" },
      { path: "./mods/", type: "5" },
      { path: "./mods/a.jar", content: "a" },
      { path: "./mods/", type: "5" },
      { path: "link", type: "2", link: "mods/a.jar" },
      { path: "mods/up", type: "2", link: "../world/level.dat" },
      { path: "second", type: "1", link: "./mods/a.jar" },
      pax("linkpath", `mods/${"x".repeat(150)}`),
      { path: "long", type: "2" },
      { path: "deep/down/file", content: "b" },
    ]);
    assert.deepEqual((await read(packed)).paths, [
      "file Dockerfile",
      "folder mods",
      "file mods/a.jar",
      "folder mods",
      "symlink link -> mods/a.jar",
      "symlink mods/up -> ../world/level.dat",
      "hardlink second -> mods/a.jar",
      `symlink long -> mods/${"x".repeat(150)}`,
      "file deep/down/file",
    ]);
  });
  test("devices and pipes are left out and counted", async () => {
    const packed = pack(["3", "4", "6"].map((type) => ({ path: `device-${type}`, type })));
    assert.deepEqual(await read(packed), { paths: ["file Dockerfile"], skipped: 3 });
  });
  test("a link that GNU tar gave a long target keeps it", async () => {
    const target = `mods/${"y".repeat(200)}`;
    const packed = pack([
      { path: "././@LongLink", type: "K", content: `${target}\0` },
      { path: "long", type: "2", link: target.slice(0, 100) },
    ]);
    assert.deepEqual((await read(packed)).paths.at(-1), `symlink long -> ${target}`);
  });
});

const file = (path: string): MadeTar => ({ path, content: "x" });
const link = (path: string, to: string): MadeTar => ({ path, type: "2", link: to });
const refused: Record<string, { entries: MadeTar[]; reason: RegExp }> = {
  "a path that goes up": { entries: [file("a/../../b")], reason: /must not go up/ },
  "an absolute path": { entries: [file("/etc/passwd")], reason: /absolute/ },
  "an absolute path in a pax record": { entries: [pax("path", "/etc/x"), file("a")], reason: /absolute/ },
  "a name with a newline": { entries: [file("a\nb")], reason: /control character/ },
  "a name with an escape sequence": { entries: [file("a\u001b[2Jb")], reason: /control character/ },
  "a name with a C1 control": { entries: [pax("path", "a\u009bb"), file("a")], reason: /control character/ },
  "a name that is not UTF-8": {
    entries: [{ path: "././@LongLink", type: "L", content: Buffer.from([0x61, 0xff, 0]) }, file("a")],
    reason: /not UTF-8/,
  },
  "a name of 256 bytes": { entries: [pax("path", "a".repeat(256)), file("a")], reason: /longer than 255/ },
  "a path of 4,097 bytes": {
    entries: [pax("path", "ab/".repeat(1_366)), file("a")],
    reason: /longer than 4096/,
  },
  "a file without a name": { entries: [file("./.")], reason: /no name/ },
  "an absolute link": { entries: [link("a", "/etc/passwd")], reason: /leads out/ },
  "a link out": { entries: [link("a/b", "../../c")], reason: /leads out/ },
  "a link to nothing": { entries: [link("a", "")], reason: /leads out/ },
  "a link that may leave through another link": {
    entries: [link("d", "."), link("f/e", "../d/../x")],
    reason: /down and up again/,
  },
  "a link with a control character in its target": {
    entries: [link("a", "b\rc")],
    reason: /control character/,
  },
  "a file below a link": { entries: [link("a", "mods"), file("a/b")], reason: /not a folder/ },
  "a folder over a link": { entries: [link("a", "mods"), { path: "a/", type: "5" }], reason: /before/ },
  "a file below a file": { entries: [file("a"), file("a/b")], reason: /not a folder/ },
  "two files of one path": { entries: [file("a"), file("./a")], reason: /before/ },
  "a second Dockerfile": { entries: [file("Dockerfile")], reason: /before/ },
  "a link over a folder": { entries: [file("a/b"), link("a", "x")], reason: /before/ },
  "a hard link out": { entries: [{ path: "a", type: "1", link: "../b" }], reason: /must not go up/ },
  "a hard link to a later file": {
    entries: [{ path: "a", type: "1", link: "b" }, file("b")],
    reason: /not an earlier file/,
  },
  "a hard link to a link": {
    entries: [link("l", "Dockerfile"), { path: "a", type: "1", link: "l" }],
    reason: /not an earlier file/,
  },
  "a folder with content": { entries: [{ path: "a/", type: "5", content: "x" }], reason: /only files/ },
  "a sparse file": {
    entries: [
      {
        path: "p",
        type: "x",
        content: Buffer.concat([
          paxRecord("GNU.sparse.major", "1"),
          paxRecord("GNU.sparse.minor", "0"),
          paxRecord("GNU.sparse.name", "a"),
          paxRecord("GNU.sparse.realsize", "99999999999"),
        ]),
      },
      file("GNUSparseFile.0/a"),
    ],
    reason: /sparse/,
  },
  "an unknown type": { entries: [{ path: "a", type: "V" }], reason: /type "V"/ },
};

describe("a context that must not be unpacked", () => {
  for (const [what, { entries, reason }] of Object.entries(refused)) {
    test(`${what} is refused by name`, async () => {
      await assert.rejects(read(pack(entries)), { name: "WorldFault", message: reason });
    });
  }
  test("one without a Dockerfile at its root is refused, a folder or a link is none", async () => {
    await assert.rejects(read(gzipSync(makeTar([file("a/Dockerfile")]))), /no Dockerfile/);
    for (const entry of [link("Dockerfile", "a"), { path: "Dockerfile", type: "5" }])
      await assert.rejects(read(gzipSync(makeTar([entry]))), /must be a file/);
  });
  test("one of more entries than allowed is refused, folders that only paths name count", async () => {
    const limits = { ...contextLimits, entries: 4 };
    assert.equal((await read(pack([file("a/b/c")]), limits)).paths.length, 2);
    await assert.rejects(read(pack([file("a/b/c/d")]), limits), /at most 4 entries/);
  });
  test("one byte more than allowed is refused", async () => {
    const tar = makeTar([dockerfile]);
    assert.equal((await read(gzipSync(tar), { ...contextLimits, plainBytes: tar.length })).paths.length, 1);
    const limits = { ...contextLimits, plainBytes: tar.length - 1 };
    await assert.rejects(read(gzipSync(tar), limits), /more than \d+ bytes/);
  });
  test("one that unpacks to far more than its size is refused before it is read", async () => {
    const bomb = pack([{ path: "zeros", content: Buffer.alloc(8 << 20) }]);
    await assert.rejects(read(bomb, { ...contextLimits, freeBytes: 1 << 20 }), /200 times its size/);
    assert.equal((await read(bomb)).paths.length, 2);
  });
  test("one that is not gzip or not a tar archive, or is cut anywhere, is refused", async () => {
    const whole = pack([{ path: "a", content: Buffer.alloc(5_000, 1) }]);
    await assert.rejects(read(makeTar([dockerfile])), /damaged/);
    await assert.rejects(read(gzipSync("no tar")), /damaged/);
    for (let end = 0; end < whole.length; end += 7)
      await assert.rejects(read(whole.subarray(0, end)), { name: "WorldFault" }, `cut at ${end}`);
  });
});
