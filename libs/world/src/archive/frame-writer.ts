// Packs plain bytes into independent frames (zstd) or members (gzip) of a few MiB, several at once on the thread pool,
// and hands them on in order. Concatenated frames are one valid stream for every reader. Never `ZSTD_c_nbWorkers`: it
// loses output in Node 24 (toolchain.md 10).

import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { constants, createZstdCompress, gzip } from "node:zlib";
import type { Frame } from "./seek-table.ts";

export type Compression = "zstd" | "gzip";

const blockBytes = { zstd: 4 << 20, gzip: 1 << 20 };
const packGzip = promisify(gzip);

/** Packs one block into one frame. */
export async function packFrame(plain: Buffer, compression: Compression): Promise<Buffer> {
  return compression === "gzip" ? await packGzip(plain, { level: 6 }) : await packZstd(plain);
}

/**
 * `zstdCompress` hands zstd the bytes in one step and the end in another, so that zstd copies all of it first. Here the
 * bytes are the end, and there is room for whatever comes out: one turn of the thread pool and no copy.
 */
function packZstd(plain: Buffer): Promise<Buffer> {
  const packer = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
    pledgedSrcSize: plain.length,
    chunkSize: plain.length + (plain.length >> 7) + 1_024,
    flush: constants.ZSTD_e_end,
  });
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    packer.once("error", reject);
    packer.on("data", (part: Buffer) => void parts.push(part));
    packer.write(plain, (error) => {
      // Gives `data` what may still wait.
      packer.read();
      packer.destroy();
      const [first = Buffer.alloc(0), ...more] = parts;
      if (error) reject(error);
      else resolve(more.length === 0 ? first : Buffer.concat(parts));
    });
  });
}

export type FrameWriter = {
  /** Room to put bytes at, never empty; tell how many with `advance`. */
  room: () => Buffer;
  advance: (count: number) => Promise<void>;
  append: (bytes: Buffer) => Promise<void>;
  /** Plain bytes so far. */
  position: () => number;
  /** Packs what is left and waits until all is written. */
  finish: () => Promise<Frame[]>;
};

/** `write` gets the frames one after the other; while it is two frames behind, the writer waits. */
export function createFrameWriter(
  compression: Compression,
  write: (frame: Buffer) => Promise<void>,
): FrameWriter {
  // One thread of the pool stays free for reading and writing files.
  const atOnce = Math.min(3, availableParallelism() + 1);
  const spare: Buffer[] = [];
  const frames: Frame[] = [];
  const packing: { plain: Buffer; length: number; packed: Promise<Buffer> }[] = [];
  let block: Buffer = Buffer.allocUnsafeSlow(blockBytes[compression]);
  let filled = 0;
  let total = 0;
  let writing = Promise.resolve();

  /** Waits for the first frame and starts to write it when the one before is written. */
  async function settleFirst(): Promise<void> {
    const first = packing.shift();
    if (!first) return;
    const packed = await first.packed;
    frames.push({ packed: packed.length, plain: first.length });
    spare.push(first.plain);
    await writing;
    writing = write(packed);
    writing.catch(() => undefined);
  }

  async function seal(): Promise<void> {
    if (filled === 0) return;
    const packed = packFrame(block.subarray(0, filled), compression);
    packed.catch(() => undefined);
    packing.push({ plain: block, length: filled, packed });
    filled = 0;
    if (packing.length >= atOnce) await settleFirst();
    block = spare.pop() ?? Buffer.allocUnsafeSlow(blockBytes[compression]);
  }

  async function advance(count: number): Promise<void> {
    filled += count;
    total += count;
    if (filled === block.length) await seal();
  }

  return {
    room: () => block.subarray(filled),
    advance,
    append: async (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        const count = bytes.copy(block, filled, at);
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
  };
}
