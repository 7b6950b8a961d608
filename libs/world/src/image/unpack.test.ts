import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Folder } from "../path/folder.ts";
import { type MadeTar, makeTar, paxRecord } from "../testing/tar.ts";
import { treeOf } from "../testing/tree.ts";
import { fillVolume } from "./fill.ts";
import { unpackLayers } from "./unpack.ts";

const scratch = mkdtempSync(join(tmpdir(), "svc-image-"));
after(() => rmSync(scratch, { recursive: true }));
const newFolder = () => mkdtempSync(join(scratch, "folder-"));

const limits = { entries: 100, plainBytes: 1 << 20 };

/** Layers from the bottom up. */
async function unpack(layers: MadeTar[][], more: Partial<typeof limits> = {}) {
  const target = newFolder();
  const topDown = async function* () {
    for (const entries of layers.toReversed()) yield inPieces(makeTar(entries));
  };
  const counted = await unpackLayers({ target, below: "data", limits: { ...limits, ...more } }, topDown());
  return { target, counted };
}

async function pathsAndContents(path: string) {
  await using folder = await Folder.openRoot(path);
  return (await treeOf(folder)).map(({ path: name, sha256 }) => [name, sha256]);
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 700) yield Buffer.from(bytes.subarray(at, at + 700));
}

const file = (path: string, content = path): MadeTar => ({ path, content });
const pax = (key: string, value: string): MadeTar => ({
  path: "p",
  type: "x",
  content: paxRecord(key, value),
});

describe("layers of an image", () => {
  test("only what is below the folder is unpacked, the upper layer over the lower", async () => {
    const base = [
      file("etc/passwd"),
      { path: "bin", type: "2", link: "usr/bin" },
      { path: "dev/null", type: "3" },
      file("data/motd", "low"),
      file("data/world/region/r.0.0.mca", "low"),
    ];
    const pack = [
      { path: "data/", type: "5" },
      file("./data/motd", "up"),
      file("data/world/.wh.region"),
      file("data/world/level.dat", "level"),
      file("dataless/x"),
    ];
    const { target, counted } = await unpack([base, pack]);
    assert.deepEqual(
      (await pathsAndContents(target)).map(([path]) => path),
      ["motd", "world", "world/level.dat"],
    );
    assert.equal(readFileSync(join(target, "motd"), "utf8"), "up");
    assert.deepEqual(counted, { entries: 2, bytes: 7 });
  });

  test("a layer can empty the folder as a whole", async () => {
    for (const whiteout of [".wh.data", "data/.wh..wh..opq", ".wh..wh..opq"]) {
      const { target } = await unpack([[file("data/old")], [file(whiteout), file("data/new")]]);
      assert.deepEqual(readdirSync(target), ["new"], whiteout);
    }
  });

  const refused: Record<string, { entries: MadeTar[]; reason: RegExp }> = {
    "a link": { entries: [{ path: "data/a", type: "2", link: "/etc/passwd" }], reason: /link or a device/ },
    "a hard link": {
      entries: [file("x"), { path: "data/a", type: "1", link: "x" }],
      reason: /link or a device/,
    },
    "a device": { entries: [{ path: "data/a", type: "3" }], reason: /link or a device/ },
    "the folder itself as a link": {
      entries: [{ path: "data", type: "2", link: "etc" }],
      reason: /link or a device/,
    },
    "a path that goes up": { entries: [file("data/../../a")], reason: /must not go up/ },
    "a path that goes up elsewhere": { entries: [file("../a")], reason: /must not go up/ },
    "a name of running operations": { entries: [file("data/.svc-restore/x")], reason: /running operations/ },
    "a folder with content": {
      entries: [{ path: "data/d/", type: "5", content: "x" }],
      reason: /only files/,
    },
    "a link with content": {
      entries: [{ path: "l", type: "2", content: "x", link: "y" }],
      reason: /only files/,
    },
    "a sparse file": {
      entries: [
        {
          ...pax("GNU.sparse.major", "1"),
          content: ["major=1", "minor=0", "name=data/a", "realsize=99"]
            .map((one) => paxRecord(`GNU.sparse.${one.split("=")[0]}`, one.split("=")[1] ?? ""))
            .join(""),
        },
        file("data/a"),
      ],
      reason: /sparse/,
    },
    "an unknown type": { entries: [{ path: "data/a", type: "V" }], reason: /type "V"/ },
  };
  for (const [what, { entries, reason }] of Object.entries(refused)) {
    test(`${what} is refused`, async () => {
      await assert.rejects(unpack([entries]), { name: "WorldFault", message: reason });
    });
  }

  test("one entry and one byte more than allowed are refused", async () => {
    const entries = [file("data/a"), file("data/b")];
    assert.equal((await unpack([entries], { entries: 2 })).counted.entries, 2);
    await assert.rejects(unpack([entries], { entries: 1 }), /at most 1 entries/);
    const plainBytes = makeTar(entries).length;
    await unpack([entries], { plainBytes });
    await assert.rejects(unpack([entries], { plainBytes: plainBytes - 1 }), /more than \d+ bytes/);
  });
});

describe("filling a volume", () => {
  const image = newFolder();
  mkdirSync(join(image, "world/region"), { recursive: true });
  writeFileSync(join(image, "world/region/r.0.0.mca"), "image");
  writeFileSync(join(image, "world/region/r.1.0.mca"), "image");
  writeFileSync(join(image, "motd"), "image", { mode: 0o640 });

  test("an empty one gets everything, and a second start changes nothing", async () => {
    const volume = newFolder();
    assert.deepEqual(await fillVolume(image, volume), ["motd", "world"]);
    assert.deepEqual(await pathsAndContents(volume), await pathsAndContents(image));
    assert.equal(statSync(join(volume, "motd")).mode & 0o777, 0o640);
    writeFileSync(join(volume, "world/region/r.0.0.mca"), "played");
    rmSync(join(volume, "world/region/r.1.0.mca"));
    assert.deepEqual(await fillVolume(image, volume), []);
    assert.deepEqual(readdirSync(join(volume, "world/region")), ["r.0.0.mca"]);
    assert.equal(readFileSync(join(volume, "world/region/r.0.0.mca"), "utf8"), "played");
    assert.equal(readFileSync(join(image, "world/region/r.0.0.mca"), "utf8"), "image");
  });

  test("a world that is there is never mixed with one of the image, whatever its name refers to", async () => {
    const volume = newFolder();
    symlinkSync("/nowhere", join(volume, "world"));
    assert.deepEqual(await fillVolume(image, volume), ["motd"]);
    assert.deepEqual(readdirSync(volume).sort(), ["motd", "world"]);
  });

  test("what a killed start left is removed, and the start puts everything in place", async () => {
    const volume = newFolder();
    mkdirSync(join(volume, ".svc-image-0123/world"), { recursive: true });
    assert.deepEqual(await fillVolume(image, volume), ["motd", "world"]);
    assert.deepEqual(readdirSync(volume).sort(), ["motd", "world"]);
  });

  test("a failure leaves the volume as it was", async () => {
    const volume = newFolder();
    const broken = newFolder();
    writeFileSync(join(broken, "first"), "");
    mkdirSync(join(broken, "second"));
    // Can't be copied.
    execFileSync("mkfifo", [join(broken, "second/pipe")]);
    await assert.rejects(fillVolume(broken, volume));
    assert.deepEqual(readdirSync(volume), []);
  });
});
