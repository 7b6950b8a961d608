import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { truncateSync } from "node:fs";
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync, zstdDecompressSync } from "node:zlib";
import { releaseBuffer, shareBuffer } from "../buffer-release.ts";
import { isWorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { treeOf } from "../testing/tree.ts";
import { createZstdPacker } from "./frame-writer.ts";
import { readIndex } from "./index-frame.ts";
import { openArchive } from "./open.ts";
import { storeArchive } from "./store.ts";
import { readTar } from "./tar-reader.ts";
import { verifyArchive } from "./verify.ts";
import { writeArchive } from "./write.ts";

let base: string;
let world: Folder;
let store: Folder;
const at = (...names: string[]) => join(base, ...names);

before(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-archive-"));
  await mkdir(at("world", "region"), { recursive: true });
  await mkdir(at("store"));
  await mkdir(at("world", "empty"), { mode: 0o750 });
  await mkdir(at("world", "lost+found"));
  await mkdir(at("world", ".svc-restore-0"));
  const long = "a".repeat(120);
  await mkdir(at("world", long, long), { recursive: true });
  await writeFile(at("world", long, long, "deep.txt"), "deep");
  await writeFile(at("world", "level.dat"), randomBytes(3_000), { mode: 0o600 });
  await writeFile(at("world", "region", "r.0.0.mca"), randomBytes(9 << 20));
  await writeFile(at("world", "region", "zeros"), Buffer.alloc(6 << 20));
  await writeFile(at("world", "empty.txt"), "");
  await writeFile(Buffer.concat([Buffer.from(at("world/")), Buffer.from([0xd6, 0xd0, 0x2e])]), "gbk name");
  await writeFile(at("world", "two\nlines\\and:more"), "odd name");
  await chmod(at("world", "empty.txt"), 0o4_755);
  await utimes(at("world", "level.dat"), 1_500_000_000.123, 1_500_000_000.123);
  await symlink("/etc/passwd", at("world", "link"));
  execFileSync("mkfifo", [at("world", "pipe")]);
  world = await Folder.openRoot(at("world"));
  store = await Folder.openRoot(at("store"));
});
after(async () => {
  await world.close();
  await store.close();
  await rm(base, { recursive: true });
});

const keep = (name: string, keepFree = 0) => storeArchive({ world, store, name, keepFree });

async function entriesOf(name: string) {
  await using file = await store.openFile(name);
  const archive = await openArchive(file);
  const entries = [];
  for await (const entry of readTar(archive.readAll().plain)) {
    const hash = createHash("sha256");
    for await (const chunk of entry.content()) hash.update(chunk);
    entries.push({
      path: entry.path,
      kind: entry.kind,
      mode: entry.mode,
      mtimeMs: entry.mtimeMs,
      size: entry.size,
      sha256: hash.digest("hex"),
    });
  }
  return entries;
}

/** Chunks as the frames of an archive come: their memory is gone when the next one is asked for. */
async function* lentIn(plain: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < plain.length; at += size) {
    const memory = Buffer.alloc(2 * Buffer.poolSize);
    const chunk = memory.subarray(0, plain.copy(memory, 0, at, at + size));
    shareBuffer(memory);
    yield chunk;
    releaseBuffer(memory);
  }
}

describe("an archive of a world", () => {
  for (const name of ["alpha-1.tar.zst", "alpha-1.tar.gz"]) {
    test(`${name} holds every file and folder with mode, time and content, and counts the rest`, async () => {
      const written = await keep(name);
      assert.equal(written.skipped, 2);
      assert.deepEqual(written.skippedNames, [
        "link (neither file nor folder)",
        "pipe (neither file nor folder)",
      ]);
      assert.equal(
        written.sha256,
        createHash("sha256")
          .update(await readFile(at("store", name)))
          .digest("hex"),
      );
      const expected = (await treeOf(world)).filter(({ kind }) => kind !== "other");
      const byPath = (one: { path: string }, other: { path: string }) => (one.path < other.path ? -1 : 1);
      assert.deepEqual((await entriesOf(name)).sort(byPath), expected.sort(byPath));
      assert.equal(written.entries, expected.length);
      assert.deepEqual(
        (await readdir(at("store"))).filter((entry) => entry.includes("partial")),
        [],
      );
    });

    test(`${name} unpacks with GNU tar to the same tree`, async () => {
      await mkdir(at(`gnu-${name}`));
      execFileSync("tar", ["-xf", at("store", name), "-C", at(`gnu-${name}`)]);
      await using gnu = await Folder.openRoot(at(`gnu-${name}`));
      const bare = (entries: Awaited<ReturnType<typeof treeOf>>) =>
        entries
          .filter(({ kind }) => kind !== "other")
          .map(({ mode, ...rest }) => ({ ...rest, mode: mode & 0o777 }));
      assert.deepEqual(bare(await treeOf(gnu)), bare(await treeOf(world)));
    });
  }

  test("one of GNU tar is read, in its own dialect and in pax", async () => {
    for (const format of ["gnu", "pax", "ustar"]) {
      const name = `gnu${format}-1.tar.gz`;
      const excluded = [
        "link",
        "pipe",
        "lost+found",
        ".svc-restore-0",
        ...(format === "ustar" ? ["a*"] : []),
      ];
      execFileSync("tar", [
        "-C",
        at("world"),
        `--format=${format}`,
        ...excluded.map((one) => `--exclude=./${one}`),
        "-czf",
        at("store", name),
        ".",
      ]);
      const paths = (await entriesOf(name)).map(({ path }) => path).sort();
      const kept = (await treeOf(world)).filter(
        ({ kind, path }) => kind !== "other" && (format !== "ustar" || !path.startsWith("aa")),
      );
      assert.deepEqual(paths, kept.map(({ path }) => path).sort());
    }
  });

  test("zstd of the command line takes ours, and ours takes what it makes", async () => {
    execFileSync("zstd", ["-t", "-q", at("store", "alpha-1.tar.zst")]);
    execFileSync("sh", [
      "-c",
      `tar -C ${at("world")} --exclude=link --exclude=pipe -c level.dat region | zstd -q -o ${at("store", "cli-1.tar.zst")}`,
    ]);
    assert.deepEqual(
      (await entriesOf("cli-1.tar.zst")).map(({ path }) => path),
      ["level.dat", "region/", "region/r.0.0.mca", "region/zeros"].map((path) => path.replace(/\/$/, "")),
    );
  });

  test("every torn, cut or changed archive is corrupt, wherever it is hurt", async () => {
    for (const name of ["alpha-1.tar.zst", "alpha-1.tar.gz"]) {
      const whole = await readFile(at("store", name));
      const sha256 = createHash("sha256").update(whole).digest("hex");
      const hurt: [what: string, bytes: Buffer][] = [
        ["empty", Buffer.alloc(0)],
        ["no archive", Buffer.from("not an archive at all")],
        ...[0.1, 0.5, 0.9, 0.999].map((share): [string, Buffer] => [
          `cut at ${share}`,
          whole.subarray(0, whole.length * share),
        ]),
        ["one byte short", whole.subarray(0, -1)],
        ["something after it", Buffer.concat([whole, Buffer.from("x")])],
      ];
      for (const share of [0.2, 0.6, 0.95]) {
        const changed = Buffer.from(whole);
        const index = Math.floor(whole.length * share);
        changed[index] = (changed[index] ?? 0) ^ 1;
        hurt.push([`changed at ${share}`, changed]);
      }
      for (const [what, bytes] of hurt) {
        await writeFile(at("store", "hurt-1.tar.zst"), bytes);
        await using file = await open(at("store", "hurt-1.tar.zst"));
        const verified = openArchive(file).then((archive) => verifyArchive(archive, { sha256 }));
        await assert.rejects(verified, (error) => isWorldFault(error, "backup_corrupt"), `${name}: ${what}`);
      }
    }
  });

  test("a tar without its end is torn, though its compression is whole", async () => {
    const block = execFileSync("tar", ["-C", at("world"), "-c", "level.dat"]).subarray(0, 512 + 3_072);
    await writeFile(at("store", "torn-1.tar.gz"), gzipSync(block));
    await using file = await open(at("store", "torn-1.tar.gz"));
    await assert.rejects(verifyArchive(await openArchive(file)), (error) =>
      isWorldFault(error, "backup_corrupt"),
    );
  });

  test("a backup that would take the last tenth is refused and leaves nothing", async () => {
    await assert.rejects(keep("alpha-2.tar.zst", 1), (error) => isWorldFault(error, "store_full"));
    assert.deepEqual(
      (await readdir(at("store"))).filter((entry) => entry.includes("alpha-2")),
      [],
    );
  });

  test("a partial that a killed backup left goes with the next one of the same server, others stay", async () => {
    for (const name of ["alpha-7", "alpha-b-7", "beta-7"])
      await writeFile(at("store", `.${name}.tar.zst.partial`), "x");
    await keep("alpha-8.tar.zst");
    const left = (await readdir(at("store"))).filter((entry) => entry.endsWith(".partial")).sort();
    assert.deepEqual(left, [".alpha-b-7.tar.zst.partial", ".beta-7.tar.zst.partial"]);
  });

  for (const format of ["gnu", "pax"])
    test(`in the ${format} dialect reads the same when each chunk is freed as the next is asked for`, async () => {
      const excluded = ["link", "pipe", "lost+found", ".svc-restore-0"].flatMap((name) => [
        "--exclude",
        name,
      ]);
      const args = ["-c", `--format=${format}`, ...excluded, "-C", at("world"), "."];
      const plain = execFileSync("tar", args, { maxBuffer: 64 << 20 });
      const entriesIn = async (chunks: AsyncIterable<Buffer>) => {
        const entries = [];
        for await (const { content, ...entry } of readTar(chunks)) {
          const hash = createHash("sha256");
          for await (const chunk of content()) hash.update(chunk);
          entries.push({ ...entry, sha256: hash.digest("hex") });
        }
        return entries;
      };
      async function* whole() {
        yield plain;
      }
      const expected = await entriesIn(whole());
      assert.ok(expected.some(({ path }) => path.length > 200));
      for (const size of [512, 1_000, 70_000])
        assert.deepEqual(await entriesIn(lentIn(plain, size)), expected, `in chunks of ${size}`);
    });

  test("may have a frame that fills its last part to the byte", async () => {
    const packed = async (plain: Buffer) => {
      using packer = createZstdPacker();
      return Buffer.concat(await packer.pack(plain));
    };
    const part = 1 << 20;
    const added = (await packed(randomBytes(part - 100))).length - (part - 100);
    const plain = randomBytes(part - added);
    const frame = await packed(plain);
    assert.ok(frame.length > part);
    assert.ok(zstdDecompressSync(frame, { maxOutputLength: plain.length }).equals(plain));
    assert.ok(execFileSync("zstd", ["-d", "-q", "-c"], { input: frame, maxBuffer: 2 * part }).equals(plain));
  });

  test("with an index larger than what small buffers share is found by it", async () => {
    await mkdir(at("names"));
    const names = Array.from({ length: 1_200 }, () => randomBytes(120).toString("hex"));
    await Promise.all(names.map((name) => writeFile(at("names", name), "")));
    await using many = await Folder.openRoot(at("names"));
    await storeArchive({ world: many, store, name: "names-1.tar.zst", keepFree: 0 });
    await using file = await store.openFile("names-1.tar.zst");
    const { seek } = await openArchive(file);
    const index = await seek?.index();
    assert.ok(index && index.lines.length > Buffer.poolSize);
    const found: string[] = [];
    for await (const { path } of readIndex(index)) found.push(path);
    assert.deepEqual(found, names.toSorted());
  });

  test("a file that changes while it is read fails the backup", async () => {
    // The first frame is handed on while the third is filled: in the middle of `zeros`.
    const write = async () => truncateSync(at("world", "region", "zeros"), 5 << 20);
    await assert.rejects(
      writeArchive(world, { compression: "zstd", write }),
      /zeros (changed|became shorter) while it was read/,
    );
    await truncate(at("world", "region", "zeros"), 6 << 20);
  });
});

describe("an archive file system that is too small", {
  skip: process.getuid?.() !== 0 && "needs root to mount one",
}, () => {
  test("refuses by the look ahead, and while it is written, and keeps nothing either time", async () => {
    await mkdir(at("small"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", at("small")]);
    try {
      await using small = await Folder.openRoot(at("small"));
      const isFull = (error: unknown) => isWorldFault(error, "store_full");
      await assert.rejects(
        storeArchive({ world, store: small, name: "alpha-1.tar.zst", keepFree: 0.1 }),
        isFull,
      );
      assert.deepEqual(await readdir(at("small")), []);
      // The world grows after the check of the free space; 9 MiB alone would pass it.
      await mkdir(at("growing"));
      await writeFile(at("growing", "one"), randomBytes(5 << 20));
      await using growing = await Folder.openRoot(at("growing"));
      const list = growing.list.bind(growing);
      let looks = 0;
      growing.list = async () => {
        looks += 1;
        if (looks === 2) await writeFile(at("growing", "two"), randomBytes(5 << 20));
        return await list();
      };
      await assert.rejects(
        storeArchive({ world: growing, store: small, name: "alpha-2.tar.zst", keepFree: 0.1 }),
        isFull,
      );
      assert.deepEqual(await readdir(at("small")), []);
    } finally {
      execFileSync("umount", ["-l", at("small")]);
    }
  });
});
