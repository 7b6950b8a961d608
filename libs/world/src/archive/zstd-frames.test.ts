import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { constants, createZstdCompress, zstdCompressSync } from "node:zlib";
import { isWorldFault } from "../fault.ts";
import { openArchive } from "./open.ts";
import { splitZstdFrames } from "./zstd-frames.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-zstd-"));
});
after(() => rm(folder, { recursive: true }));

const checksum = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const skippable = (length: number, digit = 0) => {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x184d2a50 + digit);
  head.writeUInt32LE(length, 4);
  return Buffer.concat([head, randomBytes(length)]);
};
/** As a program makes it that does not know the length before, with a window instead. */
const streamed = (content: Buffer) => buffer(Readable.from([content]).pipe(createZstdCompress()));
const noise = randomBytes(700_000);
const zeros = Buffer.alloc(300_000);

async function readAll(packed: Buffer): Promise<Buffer> {
  const path = join(folder, "a.tar.zst");
  await writeFile(path, packed);
  await using file = await open(path);
  const archive = await openArchive(file);
  const { plain } = archive.readAll();
  const chunks: Buffer[] = [];
  for await (const chunk of plain) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

describe("a zstd archive without a seek table", () => {
  const cases: [what: string, packed: () => (Buffer | Promise<Buffer>)[], content: Buffer[]][] = [
    ["of one frame", () => [zstdCompressSync(noise)], [noise]],
    ["of two frames", () => [zstdCompressSync(noise), zstdCompressSync(zeros)], [noise, zeros]],
    [
      "of frames with checksums",
      () => [zstdCompressSync(zeros, checksum), zstdCompressSync(noise, checksum)],
      [zeros, noise],
    ],
    ["of frames of a stream", () => [streamed(noise), streamed(zeros)], [noise, zeros]],
    [
      "of small frames",
      () => Array.from({ length: 500 }, (_, at) => zstdCompressSync(noise.subarray(at, at + 9))),
      Array.from({ length: 500 }, (_, at) => noise.subarray(at, at + 9)),
    ],
    [
      "with an empty frame",
      () => [zstdCompressSync(zeros), zstdCompressSync(Buffer.alloc(0)), zstdCompressSync(noise)],
      [zeros, noise],
    ],
    [
      "with frames to skip",
      () => [
        zstdCompressSync(noise),
        skippable(0),
        skippable(3_000_000, 15),
        zstdCompressSync(zeros),
        skippable(5),
      ],
      [noise, zeros],
    ],
  ];
  for (const [what, packed, content] of cases)
    test(what, async () => {
      const read = await readAll(Buffer.concat(await Promise.all(packed())));
      assert.ok(read.equals(Buffer.concat(content)), `${read.length} bytes`);
    });

  const whole = () => Buffer.concat([zstdCompressSync(noise), zstdCompressSync(zeros, checksum)]);
  const damaged: [what: string, packed: () => Buffer][] = [
    ["that is cut in its first frame", () => whole().subarray(0, 1_000)],
    ["that is cut in its last frame", () => whole().subarray(0, -3)],
    ["with something else behind it", () => Buffer.concat([whole(), Buffer.from("more")])],
    ["with less than a magic number behind it", () => Buffer.concat([whole(), Buffer.from("mo")])],
    ["with a frame to skip that is cut", () => Buffer.concat([whole(), skippable(100).subarray(0, 50)])],
  ];
  for (const [what, packed] of damaged)
    test(`${what} is damaged`, () =>
      assert.rejects(readAll(packed()), (error) => isWorldFault(error, "backup_corrupt")));
});

test("chunks may be cut anywhere", async () => {
  const packed = Buffer.concat([
    zstdCompressSync(zeros, checksum),
    skippable(3),
    await streamed(Buffer.from("world")),
  ]);
  const bytewise = async function* () {
    for (const byte of packed) yield Buffer.of(byte);
  };
  const lengths: number[] = [];
  for await (const frame of splitZstdFrames(bytewise())) {
    let length = 0;
    for await (const piece of frame) length += piece.length;
    lengths.push(length);
  }
  assert.equal(lengths.length, 2);
  assert.equal(lengths[0], zstdCompressSync(zeros, checksum).length);
});
