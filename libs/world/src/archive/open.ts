// Reads an archive: all of it in order, hashed on the way, or single entries by its index.

import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, createZstdDecompress, zstdDecompress } from "node:zlib";
import { releaseBuffer, shareBuffer } from "../buffer-release.ts";
import { errnoOf } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import type { ArchiveIndex } from "./index-frame.ts";
import { type Frame, isListHead, listHeadBytes, readSeekTable } from "./seek-table.ts";
import { corrupt } from "./tar-header.ts";
import { splitZstdFrames } from "./zstd-frames.ts";
import { createZstdUnpacker } from "./zstd-unpacker.ts";

const unpack = promisify(zstdDecompress);
const readBytes = 1 << 20;
/** Frames below this are unpacked one after the other by one decoder; fewer where little may be wanted. */
const smallFrameBytes = 256 << 10;
const wholeGroupBytes = 1 << 20;
const partGroupBytes = 256 << 10;

export type ReadOptions = {
  signal?: AbortSignal | undefined;
  /** Bytes of the archive read so far. */
  onProgress?: ((bytes: number) => void) | undefined;
};

export type Archive = {
  size: number;
  /**
   * The uncompressed bytes from the start; `sha256` of the archive is known once they have been read to the end. A chunk is
   * valid until the next one is requested, and longer if retained.
   */
  readAll: (options?: ReadOptions) => { plain: AsyncIterable<Buffer>; sha256: () => string };
  /** Random access to entries; undefined for archives without an index. */
  seek: { index: () => Promise<ArchiveIndex>; from: (plainAt: number) => AsyncIterable<Buffer> } | undefined;
};

/** Detects the format by the first bytes, not by the name. Throws `backup_corrupt` for an unknown one. */
export async function openArchive(file: ArchiveFile): Promise<Archive> {
  const { size } = await file.stat();
  const read = (at: number, length: number) => readExactly(file, at, length);
  const magic = size >= 4 ? await read(0, 4) : Buffer.alloc(4);
  const isZstd = magic.readUInt32LE(0) === 0xfd2fb528;
  if (!isZstd && !(magic[0] === 0x1f && magic[1] === 0x8b))
    throw corrupt("it is neither a .tar.zst nor a .tar.gz");
  const frames = isZstd ? await readSeekTable({ size, read }) : undefined;
  const index = frames && (await findIndex(frames, read));
  return {
    size,
    readAll: (options = {}) => {
      const hash = createHash("sha256");
      const part = { size, onChunk: (chunk: Buffer) => void hash.update(chunk), ...options };
      const plain = frames
        ? unpackFrames(file, { frames: inGroups(frames, wholeGroupBytes), part })
        : isZstd
          ? unpackZstd(readPacked(file, 0, part))
          : unpackStream(readPacked(file, 0, part), createGunzip());
      return { plain: explained(plain), sha256: () => hash.digest("hex") };
    },
    seek: frames && index && seekIn(file, frames, index),
  };
}

type Place = { at: number; length: number };
type Lists = { lines: Place; digests: Place | undefined };

/** The index is the last frame, if the archive has one; digests are before it. */
async function findIndex(
  frames: readonly Frame[],
  read: (at: number, length: number) => Promise<Buffer>,
): Promise<Lists | undefined> {
  const find = async (kind: "index" | "digests", end: number, frame: Frame | undefined) => {
    if (!frame || frame.plain > 0 || frame.packed < listHeadBytes) return undefined;
    const at = end - frame.packed;
    const isFound = isListHead(await read(at, listHeadBytes), { kind, frameBytes: frame.packed });
    return isFound ? { at, length: frame.packed } : undefined;
  };
  const end = frames.reduce((sum, { packed }) => sum + packed, 0);
  const lines = await find("index", end, frames.at(-1));
  return lines && { lines, digests: await find("digests", lines.at, frames.at(-2)) };
}

function seekIn(file: ArchiveFile, frames: readonly Frame[], lists: Lists): NonNullable<Archive["seek"]> {
  const contentOf = async ({ at, length }: Place) =>
    (await readExactly(file, at, length)).subarray(listHeadBytes);
  return {
    index: async () => ({
      lines: await contentOf(lists.lines),
      digests: lists.digests && (await contentOf(lists.digests)),
    }),
    from: (plainAt) => {
      let [packedAt, before, first] = [0, 0, 0];
      for (const frame of frames) {
        if (before + frame.plain > plainAt) break;
        packedAt += frame.packed;
        before += frame.plain;
        first += 1;
      }
      return explained(
        dropped(
          unpackFrom(file, { frames: inGroups(frames.slice(first), partGroupBytes), packedAt }),
          plainAt - before,
        ),
      );
    },
  };
}

async function* unpackFrom(file: ArchiveFile, { frames, packedAt }: { frames: Group[]; packedAt: number }) {
  using unpackers = createUnpackers();
  let at = packedAt;
  for (const frame of frames) {
    const packed = await readExactly(file, at, frame.packed);
    at += frame.packed;
    if (frame.plain > 0) yield* (await unpackers.unpack(packed, frame)).lend();
  }
}

/** Frames that follow one another and are unpacked together. */
type Group = Frame & { frames: Frame[] };

function inGroups(frames: readonly Frame[], mostBytes: number): Group[] {
  const groups: Group[] = [];
  for (const { packed, plain } of frames) {
    const last = groups.at(-1);
    const isSmall = isSmallFrame(plain) && isSmallFrame(last?.frames[0]?.plain);
    if (last && isSmall && last.plain + plain <= mostBytes) {
      last.packed += packed;
      last.plain += plain;
      last.frames.push({ packed, plain });
    } else groups.push({ packed, plain, frames: [{ packed, plain }] });
  }
  return groups;
}

function isSmallFrame(plain: number | undefined): boolean {
  return plain !== undefined && plain > 0 && plain < smallFrameBytes;
}

async function* dropped(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

type Part = ReadOptions & { size: number; onChunk: (chunk: Buffer) => void };

async function* readPacked(file: ArchiveFile, from: number, part: Part): AsyncGenerator<Buffer> {
  for (let at = from; at < part.size; ) {
    part.signal?.throwIfAborted();
    const chunk = await readExactly(file, at, Math.min(readBytes, part.size - at));
    at += chunk.length;
    part.onChunk(chunk);
    part.onProgress?.(at);
    yield chunk;
  }
}

type PackedFrame = { frame: Group; packed: Buffer };
type Frames = { frames: readonly Group[]; part: Part; spare: Buffer[] };

/**
 * Frame by frame; skippable frames and the seek table are read only for the digest. Buffers in `spare` are reused.
 */
async function* readFrames(file: ArchiveFile, { frames, part, spare }: Frames): AsyncGenerator<PackedFrame> {
  const largest = frames.reduce((most, { packed, plain }) => (plain > 0 ? Math.max(most, packed) : most), 0);
  let at = 0;
  for (const frame of frames) {
    part.signal?.throwIfAborted();
    if (frame.plain === 0) {
      for await (const _ of readPacked(file, at, { ...part, size: at + frame.packed }));
    } else {
      const packed = spare.pop() ?? Buffer.allocUnsafeSlow(largest);
      await fill(file, packed.subarray(0, frame.packed), at);
      part.onChunk(packed.subarray(0, frame.packed));
      part.onProgress?.(at + frame.packed);
      yield { frame, packed };
    }
    at += frame.packed;
  }
  for await (const _ of readPacked(file, at, part));
}

async function* unpackFrames(
  file: ArchiveFile,
  { frames, part }: Omit<Frames, "spare">,
): AsyncGenerator<Buffer> {
  const atOnce = Math.min(3, availableParallelism() + 1);
  const spare: Buffer[] = [];
  using unpackers = createUnpackers();
  const unpacking: { unpacked: Promise<Unpacked>; packed: Buffer }[] = [];
  const settleFirst = async () => {
    const first = unpacking.shift();
    const unpacked = await first?.unpacked;
    if (first) spare.push(first.packed);
    return unpacked?.lend() ?? [];
  };
  for await (const { frame, packed } of readFrames(file, { frames, part, spare })) {
    part.signal?.throwIfAborted();
    const unpacked = unpackers.unpack(packed.subarray(0, frame.packed), frame);
    unpacked.catch(() => undefined);
    unpacking.push({ unpacked, packed });
    if (unpacking.length >= atOnce) yield* await settleFirst();
  }
  while (unpacking.length > 0) yield* await settleFirst();
}

/** What was unpacked, in parts of which each is valid until the next one is asked for. */
type Unpacked = { lend: () => Iterable<Buffer> };

function createUnpackers(): Disposable & {
  unpack: (packed: Buffer, group: Group) => Promise<Unpacked>;
} {
  const all: ReturnType<typeof createZstdUnpacker>[] = [];
  const free: typeof all = [];
  const newUnpacker = () => {
    const unpacker = createZstdUnpacker();
    all.push(unpacker);
    return unpacker;
  };
  return {
    unpack: async (packed, group) => {
      if (group.frames.length === 1) {
        const plain = await unpackFrame(packed, group);
        return { lend: () => lent(plain) };
      }
      const unpacker = free.pop() ?? newUnpacker();
      const parts = await unpacker.unpack(packed, group.frames);
      return {
        *lend() {
          yield* unpacker.lend(parts);
          free.push(unpacker);
        },
      };
    },
    [Symbol.dispose]: () => {
      for (const unpacker of all) unpacker[Symbol.dispose]();
    },
  };
}

function* lent(plain: Buffer): Generator<Buffer> {
  shareBuffer(plain);
  yield plain;
  releaseBuffer(plain);
}

async function unpackFrame(packed: Buffer, { plain: length }: Frame): Promise<Buffer> {
  const plain = await unpack(packed, {
    maxOutputLength: length,
    // One byte more than expected, so that one turn of the thread pool reaches the end.
    chunkSize: Math.min(length, 4 << 20) + 64,
  });
  if (plain.length !== length) throw corrupt("a frame is shorter than its table says");
  return plain;
}

type Unpacker = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>;

async function* unpackStream(packed: AsyncIterable<Uint8Array>, unpacker: Unpacker): AsyncGenerator<Buffer> {
  const source = Readable.from(packed, { objectMode: true, highWaterMark: 1 });
  source.on("error", (error) => unpacker.destroy(error));
  try {
    yield* source.pipe(unpacker) as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    unpacker.destroy();
  }
}

async function* unpackZstd(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const frame of splitZstdFrames(packed)) yield* unpackStream(frame, createZstdDecompress());
}

/** The bytes of a gzip stream; packed chunks are read ahead. Throws `backup_corrupt` for one that is damaged. */
export function unpackGzip(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  return explained(unpackStream(packed, createGunzip({ chunkSize: 1 << 18 })));
}

const tornCodes =
  /^(Z_(DATA|BUF)_ERROR|Z_NEED_DICT|ERR__ERROR_FORMAT_PADDING_1|ERR_BUFFER_TOO_LARGE|ZSTD_error_.*)$/;

async function* explained(plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* plain;
  } catch (error) {
    if (tornCodes.test(errnoOf(error) ?? "")) throw corrupt((error as Error).message);
    throw error;
  }
}

async function readExactly(file: ArchiveFile, at: number, length: number): Promise<Buffer> {
  return await fill(file, Buffer.allocUnsafe(length), at);
}

async function fill(file: ArchiveFile, buffer: Buffer, at: number): Promise<Buffer> {
  for (let have = 0; have < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, have, buffer.length - have, at + have);
    if (bytesRead === 0) throw corrupt("it ends too early");
    have += bytesRead;
  }
  return buffer;
}
