// Compresses bytes into independent frames (zstd) or members (gzip) of a few MiB, several at once on the thread pool, and
// writes them in order. Concatenated frames are one valid stream for every reader. Never `ZSTD_c_nbWorkers`: it
// loses output in Node 24.

import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { constants, createZstdCompress, gzip } from "node:zlib";
import type { Frame } from "./seek-table.ts";

export type Compression = "zstd" | "gzip";

const blockBytes = { zstd: 4 << 20, gzip: 1 << 20 };
const packGzip = promisify(gzip);

/**
 * Compresses each block into one frame. A frame comes in parts, which may be released once consumed: parts of one packer
 * are contiguous in memory.
 */
type Packer = Disposable & { pack: (plain: Buffer) => Promise<Buffer[]> };

const gzipPacker: Packer = {
  pack: async (plain) => [await packGzip(plain, { level: 6 })],
  [Symbol.dispose]: () => undefined,
};

/**
 * One zstd context for all frames, a third faster than one for each. Parts of 1 MiB: a buffer for a whole frame would let
 * zstd work in one pass, but costs more in fresh memory than that saves.
 */
export function createZstdPacker(): Packer {
  const stream = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
    chunkSize: 1 << 20,
    flush: constants.ZSTD_e_end,
  });
  let parts: Buffer[] = [];
  let fail: (error: Error) => void = () => undefined;
  stream.on("data", (part: Buffer) => void parts.push(part));
  stream.on("error", (error) => fail(error));
  return {
    pack: (plain) =>
      new Promise((resolve, reject) => {
        fail = reject;
        stream.write(plain, (error) => {
          // Flushes pending output to `data`. A frame that exactly fills its last part is followed by an empty one
          // (nodejs/node#66078), which decompresses to nothing.
          stream.read();
          const frame = parts;
          parts = [];
          if (error) reject(error);
          else resolve(frame);
        });
      }),
    [Symbol.dispose]: () => void stream.destroy(),
  };
}

export type FrameWriter = Disposable & {
  /** A buffer to fill, never empty; report the count with `advance`. */
  room: () => Buffer;
  advance: (count: number) => Promise<void>;
  append: (bytes: Buffer) => Promise<void>;
  /** Uncompressed bytes so far. */
  position: () => number;
  /** Compresses the rest and waits until everything is written. */
  finish: () => Promise<Frame[]>;
};

type Slot = { block: Buffer; packer: Packer };

/**
 * `write` receives the parts of the frames in order and may release each; the writer waits while `write` is two frames
 * behind.
 */
export function createFrameWriter(
  compression: Compression,
  write: (part: Buffer) => Promise<void>,
): FrameWriter {
  // One thread of the pool stays free for reading and writing files.
  const atOnce = Math.min(3, Math.max(2, availableParallelism()));
  const slots: Slot[] = [];
  const spare: Slot[] = [];
  const frames: Frame[] = [];
  const packing: { slot: Slot; length: number; packed: Promise<Buffer[]> }[] = [];
  let current = nextSlot();
  let filled = 0;
  let total = 0;
  let writing = Promise.resolve();

  function nextSlot(): Slot {
    const known = spare.pop();
    if (known) return known;
    const packer = compression === "zstd" ? createZstdPacker() : gzipPacker;
    const slot = { block: Buffer.allocUnsafeSlow(blockBytes[compression]), packer };
    slots.push(slot);
    return slot;
  }

  /** Waits for the first frame, and writes it after the previous one. */
  async function settleFirst(): Promise<void> {
    const first = packing.shift();
    if (!first) return;
    const packed = await first.packed;
    frames.push({ packed: lengthOf(packed), plain: first.length });
    spare.push(first.slot);
    await writing;
    writing = writeParts(packed);
    writing.catch(() => undefined);
  }

  async function writeParts(parts: Buffer[]): Promise<void> {
    for (const part of parts) await write(part);
  }

  async function seal(): Promise<void> {
    if (filled === 0) return;
    const packed = current.packer.pack(current.block.subarray(0, filled));
    packed.catch(() => undefined);
    packing.push({ slot: current, length: filled, packed });
    filled = 0;
    if (packing.length >= atOnce) await settleFirst();
    current = nextSlot();
  }

  async function advance(count: number): Promise<void> {
    filled += count;
    total += count;
    if (filled === current.block.length) await seal();
  }

  return {
    room: () => current.block.subarray(filled),
    advance,
    append: async (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        const count = bytes.copy(current.block, filled, at);
        at += count;
        await advance(count);
      }
    },
    position: () => total,
    finish: async () => {
      await seal();
      while (packing.length > 0) await settleFirst();
      await writing;
      return frames;
    },
    [Symbol.dispose]: () => {
      for (const { packer } of slots) packer[Symbol.dispose]();
    },
  };
}

function lengthOf(parts: Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
