import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { constants, zstdCompressSync } from "node:zlib";
import { isWorldFault } from "../fault.ts";
import { createZstdPacker } from "./frame-writer.ts";
import { createZstdUnpacker } from "./zstd-unpacker.ts";

const params = { [constants.ZSTD_c_checksumFlag]: 1 };
const pack = (plain: Buffer) => zstdCompressSync(plain, { params });
const frameOf = (plain: Buffer) => ({ packed: pack(plain).length, plain: plain.length });
const textOf = (bytes: number) => Buffer.alloc(bytes, "a line of a log\n");

test("frames of all lengths come out as they went in, call after call, while parts are lent", async () => {
  using unpacker = createZstdUnpacker();
  for (let call = 0; call < 12; call += 1) {
    const plains = [randomBytes(131_072), textOf(131_072), randomBytes(1), textOf(70_001), randomBytes(99)];
    const packed = Buffer.concat(plains.map(pack));
    const parts = await unpacker.unpack(packed, plains.map(frameOf));
    const found: Buffer[] = [];
    for (const part of unpacker.lend(parts)) found.push(Buffer.from(part));
    assert.ok(Buffer.concat(found).equals(Buffer.concat(plains)), `call ${call}`);
  }
});

test("an empty frame behind a frame, which the packer may add, changes nothing", async () => {
  using unpacker = createZstdUnpacker();
  const plain = randomBytes(100_000);
  const packed = Buffer.concat([pack(plain), pack(Buffer.alloc(0))]);
  for (let call = 0; call < 30; call += 1) {
    const frame = { packed: packed.length, plain: plain.length };
    const parts = await unpacker.unpack(Buffer.concat([packed, packed]), [frame, frame]);
    const found: Buffer[] = [];
    for (const part of unpacker.lend(parts)) found.push(Buffer.from(part));
    assert.ok(Buffer.concat(found).equals(Buffer.concat([plain, plain])), `call ${call}`);
  }
});

test("a frame that our packer ends where its memory ends is unpacked, and so are those after it", async () => {
  const lengthOf = (parts: readonly Buffer[]) => parts.reduce((sum, { length }) => sum + length, 0);
  const packedBytes = async (bytes: number) => {
    using alone = createZstdPacker();
    return lengthOf(await alone.pack(randomBytes(bytes)));
  };
  const left = (1 << 20) - 7 * (await packedBytes(131_072));
  let last = left;
  while ((await packedBytes(last)) > left) last -= 1;
  using packer = createZstdPacker();
  using unpacker = createZstdUnpacker();
  const plains = [...Array.from({ length: 7 }, () => 131_072), last, 8_192, 8_192].map((bytes) =>
    randomBytes(bytes),
  );
  const packed: Buffer[] = [];
  for (const plain of plains) packed.push(Buffer.concat(await packer.pack(plain)));
  assert.ok((packed[7]?.length ?? 0) > left, "an empty frame follows it");
  const frames = packed.map(({ length }, index) => ({ packed: length, plain: plains[index]?.length ?? 0 }));
  const parts = await unpacker.unpack(Buffer.concat(packed), frames);
  assert.ok(Buffer.concat(parts).equals(Buffer.concat(plains)));
});

test("memory of a part is freed once the decoder has left it and the next one is asked for", async () => {
  using unpacker = createZstdUnpacker();
  const plain = randomBytes(200_000);
  const lent: Buffer[] = [];
  for (let call = 0; call < 12; call += 1) {
    const parts = await unpacker.unpack(pack(plain), [frameOf(plain)]);
    for (const part of unpacker.lend(parts)) {
      assert.ok(part.length > 0);
      lent.push(part);
    }
  }
  assert.equal(lent[0]?.length, 0);
  assert.notEqual(lent.at(-1)?.length, 0);
});

describe("damage is refused", () => {
  const plain = textOf(100_000);
  const good = pack(plain);
  const flipped = Buffer.from(good);
  flipped.writeUInt8(flipped.readUInt8(good.length - 1) ^ 1, good.length - 1);
  const table: [what: string, packed: Buffer, plain: number][] = [
    ["a frame that is longer than it should be", good, 99_999],
    ["a frame that is shorter than it should be", good, 100_001],
    ["a frame with a wrong checksum", flipped, 100_000],
    ["a frame without its checksum", good.subarray(0, -4), 100_000],
    ["a frame that is cut", good.subarray(0, -9), 100_000],
    ["a frame with bytes behind it", Buffer.concat([good, Buffer.from("more")]), 100_000],
    ["what is no frame", randomBytes(500), 100_000],
  ];
  for (const [what, packed, plainBytes] of table)
    test(what, async () => {
      using unpacker = createZstdUnpacker();
      const frames = [
        { packed: packed.length, plain: plainBytes },
        { packed: good.length, plain: plain.length },
      ];
      const unpacking = unpacker.unpack(Buffer.concat([packed, good]), frames);
      await assert.rejects(unpacking, (error: NodeJS.ErrnoException) => {
        assert.ok(
          isWorldFault(error, "backup_corrupt") || /^ZSTD_error/.test(error.code ?? ""),
          String(error),
        );
        return true;
      });
    });
});
