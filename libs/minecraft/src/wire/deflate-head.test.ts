import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { constants, createDeflate, deflateSync, inflateSync } from "node:zlib";
import { deflateHead } from "./deflate-head.ts";

const headOf = (stream: Buffer, want = 5) => deflateHead(stream, { start: 0, end: stream.length }, want);

const bodies: Record<string, Buffer> = {
  "one byte": Buffer.of(0x2b),
  "an id alone": Buffer.of(0x80, 0x01),
  "one byte again and again": Buffer.alloc(70_000, 0x80),
  "two bytes in turn": Buffer.alloc(9_000, "\x80\x01"),
  noise: randomBytes(5_000),
  text: Buffer.from("the quick brown fox jumps over the lazy dog ".repeat(90)),
  "a count": Buffer.from(Uint8Array.from({ length: 4_096 }, (_, index) => index)),
};
const { Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED, Z_DEFAULT_STRATEGY } = constants;
const strategies = { Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_FILTERED, Z_DEFAULT_STRATEGY };

for (const [what, body] of Object.entries(bodies)) {
  test(`the head of ${what} is what zlib inflates, however it was packed`, () => {
    for (const strategy of Object.values(strategies))
      for (let level = 0; level <= 9; level++) {
        const stream = deflateSync(body, { level, strategy });
        for (const want of [1, 2, 5]) assert.deepEqual(headOf(stream, want), [...body.subarray(0, want)]);
      }
  });
}

test("the head of random packets is what zlib inflates", () => {
  for (let turn = 0; turn < 2_000; turn++) {
    // Few different bytes, so that the codes are short and the first of them are matches.
    const body = randomBytes(1 + (turn % 600)).map((byte) => byte % (1 + (turn % 17)));
    assert.deepEqual(headOf(deflateSync(body)), [...body.subarray(0, 5)]);
  }
});

test("a head behind empty blocks, and one that begins in the middle of a block, are found", async () => {
  const packer = createDeflate();
  const flush = (kind: number) => new Promise<void>((resolve) => packer.flush(kind, resolve));
  for (const part of [Buffer.of(), Buffer.of(0x8a), Buffer.of(0x81), randomBytes(600)]) {
    if (part.length > 0) packer.write(part);
    await flush(constants.Z_FULL_FLUSH);
    await flush(constants.Z_SYNC_FLUSH);
  }
  packer.end();
  const stream = Buffer.concat(await packer.toArray());
  assert.deepEqual(headOf(stream), [...inflateSync(stream).subarray(0, 5)]);
});

test("what is not a stream, or ends before the head does, is refused", () => {
  const good = deflateSync(randomBytes(400));
  const streams = {
    nothing: Buffer.of(),
    "no header": Buffer.alloc(20, 0xee),
    "a preset dictionary": deflateSync(Buffer.from("abcabc"), { dictionary: Buffer.from("abc") }),
    "a reserved kind of block": Buffer.of(0x78, 0x9c, 0x07, 0),
    "a distance before the start": Buffer.of(0x78, 0x9c, 0x03 | (0x40 << 1), 0x00, 0x00),
    "a cut header": good.subarray(0, 3),
    "a stored block whose length is wrong": Buffer.of(0x78, 0x01, 0x01, 5, 0, 5, 0, 1, 2, 3, 4, 5),
    "empty blocks without an end": Buffer.concat([
      good.subarray(0, 2),
      Buffer.alloc(5_000, Buffer.of(0, 0, 0, 0xff, 0xff)),
    ]),
  };
  for (const [what, stream] of Object.entries(streams))
    assert.throws(() => headOf(stream), { name: "MinecraftFault", code: "frame" }, what);
});

test("no bytes at all make more work than the head of a stream holds, nor anything but a fault", () => {
  for (let turn = 0; turn < 20_000; turn++) {
    const stream = Buffer.concat([Buffer.of(0x78, 0x9c), randomBytes(turn % 90)]);
    let head: number[];
    try {
      head = headOf(stream);
    } catch (error) {
      assert.equal((error as Error).name, "MinecraftFault");
      continue;
    }
    const options = { finishFlush: constants.Z_SYNC_FLUSH };
    let whole: Buffer;
    try {
      whole = inflateSync(stream, options);
    } catch {
      // What zlib refuses, the client refuses.
      continue;
    }
    assert.deepEqual(head, [...whole.subarray(0, 5)]);
  }
});
