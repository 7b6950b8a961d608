// Compresses bytes into independent frames (zstd) or members (gzip) of a few MiB, several at once on the thread pool, and
// writes them in order. Concatenated frames are one valid stream for every reader. Never `ZSTD_c_nbWorkers`: it
// loses output in Node 24.

import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { constants, createZstdCompress, gzip } from "node:zlib";
import { releaseConsumed } from "../buffer-release.ts";
import type { Frame } from "./seek-table.ts";

export type Compression = "zstd" | "gzip";

const blockBytes = { zstd: 4 << 20, gzip: 1 << 20 };
/**
 * Levels for pieces. Most of a world is compressed already, where the fast one takes half the time of level 3 and saves as much. What
 * it makes less than `denseShare` of is worth the other one.
 */
const pieceLevels = { fast: -2, dense: 1 };
const denseShare = 0.6;
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
export function createZstdPacker(level = 3): Packer {
  const stream = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 },
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

function createPiecePacker(): Packer {
  const fast = createZstdPacker(pieceLevels.fast);
  const dense = createZstdPacker(pieceLevels.dense);
  return {
    pack: async (plain) => {
      const parts = await fast.pack(plain);
      return lengthOf(parts) >= denseShare * plain.length ? parts : await dense.pack(plain);
    },
    [Symbol.dispose]: () => {
      fast[Symbol.dispose]();
      dense[Symbol.dispose]();
    },
  };
}

export type FrameWriter = Disposable & {
  /** A buffer to fill, never empty; report the count with `advance`. */
  room: () => Buffer;
  /** `from`: where these bytes begin in their file, which is cut at each multiple of `pieces.bytes`. */
  advance: (count: number, from?: number) => Promise<void>;
  /** Ends a frame here, or the last piece of a file; without `pieces` nothing happens. */
  cut: (about?: { isPiece: boolean }) => void;
  append: (bytes: Buffer) => Promise<void>;
  /** Uncompressed bytes so far. */
  position: () => number;
  /** Compresses the rest and waits until everything is written. */
  finish: () => Promise<Frame[]>;
};

function createPacker(compression: Compression, isOfPieces: boolean): Packer {
  if (compression === "gzip") return gzipPacker;
  return isOfPieces ? createPiecePacker() : createZstdPacker();
}

type Slot = { block: Buffer; packer: Packer };
/** `spent`: memory of what was joined or cut again, to be freed once all before it is written. */
type Packed = { parts: Buffer[]; plain: number; spent?: Buffer[] };

/** How large files are cut, so that two archives of nearly the same world have most frames in common. */
export type Pieces = {
  /** A frame ends at each multiple of this in a file. */
  bytes: number;
  /** A frame of a file that is not stored yet is cut at each multiple of this. */
  smallBytes: number;
  /** Whether an earlier archive has this frame; absent when there is none. */
  isStored?: ((frame: Buffer) => boolean) | undefined;
};

type FrameOptions = {
  compression: Compression;
  /** Absent: frames of some MiB, wherever they end. */
  pieces?: Pieces | undefined;
};

/**
 * `write` receives the parts of the frames in order and may release each; the writer waits while `write` is two frames
 * behind. With `pieces` each call of `write` is one whole frame.
 */
export function createFrameWriter(
  { compression, pieces }: FrameOptions,
  write: (part: Buffer) => Promise<void>,
): FrameWriter {
  // One thread of the pool stays free for reading and writing files.
  const atOnce = Math.min(3, Math.max(2, availableParallelism()));
  const slots: Slot[] = [];
  const spare: Slot[] = [];
  const frames: Frame[] = [];
  const packing: { slot: Slot; packed: Promise<Packed[]> }[] = [];
  let current = nextSlot();
  const cuts = createCuts(pieces?.bytes);
  let filled = 0;
  let total = 0;
  let writing = Promise.resolve();

  function nextSlot(): Slot {
    const known = spare.pop();
    if (known) return known;
    const packer = createPacker(compression, pieces !== undefined);
    const slot = { block: Buffer.allocUnsafeSlow(blockBytes[compression]), packer };
    slots.push(slot);
    return slot;
  }

  /** Waits for the first frame, and writes it after the previous one. */
  async function settleFirst(): Promise<void> {
    const first = packing.shift();
    if (!first) return;
    const packed = await first.packed;
    for (const { parts, plain } of packed)
      if (parts.length > 0) frames.push({ packed: lengthOf(parts), plain });
    spare.push(first.slot);
    await writing;
    writing = writeFrames(packed, write);
    writing.catch(() => undefined);
  }

  /** Bytes after the last cut begin the next block: where a block ends says nothing about the content. */
  async function seal(isLast = false): Promise<void> {
    if (filled === 0) return;
    const sealed = current;
    const ends = cuts.take(filled, isLast);
    const packed = packAt(sealed, { ends, pieces });
    packed.catch(() => undefined);
    packing.push({ slot: sealed, packed });
    // The block may be filled anew once it is settled.
    const rest = Buffer.from(sealed.block.subarray(ends.at(-1)?.end, filled));
    if (packing.length >= atOnce) await settleFirst();
    current = nextSlot();
    filled = rest.copy(current.block);
  }

  async function advance(count: number, from?: number): Promise<void> {
    cuts.within(filled, { count, from });
    filled += count;
    total += count;
    if (filled === current.block.length) await seal();
  }

  return {
    room: () => current.block.subarray(filled),
    advance,
    cut: ({ isPiece } = { isPiece: false }) => cuts.at(filled, isPiece),
    append: async (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        const count = bytes.copy(current.block, filled, at);
        at += count;
        await advance(count);
      }
    },
    position: () => total,
    finish: async () => {
      await seal(true);
      while (packing.length > 0) await settleFirst();
      await writing;
      return frames;
    },
    [Symbol.dispose]: () => {
      for (const { packer } of slots) packer[Symbol.dispose]();
    },
  };
}

/** `isPiece`: it has bytes of one large file and nothing else. */
type End = { end: number; isPiece: boolean };

/** Where frames end in the current block; nowhere without `pieceBytes`. */
function createCuts(pieceBytes: number | undefined) {
  let cuts: End[] = [];
  const lastEnd = () => cuts.at(-1)?.end ?? 0;
  const at = (end: number, isPiece: boolean) => {
    if (pieceBytes !== undefined && end > lastEnd()) cuts.push({ end, isPiece });
  };
  return {
    at,
    /** At each multiple of `pieceBytes` in a file, of which the bytes from `from` on come at `filled`. */
    within: (filled: number, { count, from }: { count: number; from: number | undefined }) => {
      if (pieceBytes === undefined || from === undefined) return;
      const first = (Math.floor(from / pieceBytes) + 1) * pieceBytes;
      for (let next = first; next <= from + count; next += pieceBytes) at(filled + next - from, true);
    },
    /** The ends in a block that is full or the last one; at least one. */
    take: (filled: number, isLast: boolean): End[] => {
      const last = lastEnd();
      const isOpen = last === 0 || (isLast && last < filled);
      const ends = isOpen ? [...cuts, { end: filled, isPiece: false }] : cuts;
      cuts = [];
      return ends;
    },
  };
}

async function writeFrames(packed: readonly Packed[], write: (part: Buffer) => Promise<void>): Promise<void> {
  for (const { parts, spent = [] } of packed) {
    for (const part of parts) await write(part);
    for (const part of spent) releaseConsumed(part);
  }
}

type Packing = { ends: readonly End[]; pieces: Pieces | undefined };

/** Packs one frame after the other, each up to the next of these ends. */
async function packAt({ block, packer }: Slot, { ends, pieces }: Packing): Promise<Packed[]> {
  const packed: Packed[] = [];
  let at = 0;
  for (const { end, isPiece } of ends) {
    const plain = block.subarray(at, end);
    at = end;
    if (!pieces) packed.push({ parts: await packer.pack(plain), plain: plain.length });
    else packed.push(...(await packPiece({ plain, isPiece, packer }, pieces)));
  }
  return packed;
}

type Piece = { plain: Buffer; isPiece: boolean; packer: Packer };

/** One frame, or several small ones where an earlier archive has another piece, most of which is still the same. */
async function packPiece({ plain, isPiece, packer }: Piece, pieces: Pieces): Promise<Packed[]> {
  const { smallBytes, isStored } = pieces;
  const whole = inOnePart(await packer.pack(plain), plain.length);
  const [frame] = whole.parts;
  const isCut = isPiece && isStored !== undefined && plain.length > smallBytes && !isStored(frame);
  if (!isCut) return [whole];
  const packed: Packed[] = [{ parts: [], plain: 0, spent: [...whole.spent, frame] }];
  for (let at = 0; at < plain.length; at += smallBytes) {
    const small = plain.subarray(at, at + smallBytes);
    packed.push(inOnePart(await packer.pack(small), small.length));
  }
  return packed;
}

function inOnePart(parts: Buffer[], plain: number): Packed & { parts: [Buffer]; spent: Buffer[] } {
  const [only] = parts;
  if (only && parts.length === 1) return { parts: [only], plain, spent: [] };
  return { parts: [Buffer.concat(parts)], plain, spent: parts };
}

function lengthOf(parts: Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
