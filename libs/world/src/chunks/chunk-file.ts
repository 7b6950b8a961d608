// A deduplicated archive as one file: bytes come from the packs, and unless the caller compares the digest of all of it, none
// leaves here before the digest of its chunk was compared.

import { hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { corrupt } from "../archive/tar-header.ts";
import { isWorldFault } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import type { Folder } from "../path/folder.ts";
import { readAhead } from "../path/read-ahead.ts";
import type { ChunkList, ChunkPlace } from "./chunk-list.ts";
import type { Manifest } from "./manifest.ts";

/** Neighbours of a pack that follow one another in the archive are read in one go. */
const runBytes = 1 << 20;
const mostOpenPacks = 64;
/** Less than this is read together with what follows. */
const leastDirectBytes = 256 << 10;

/** `memory` is used again for another run once this one is replaced. */
type Run = { at: number; bytes: Buffer; memory: Buffer };

/**
 * Takes over the folder and closes it. `read` throws `backup_corrupt` that names the chunk and the pack. `isCompared`: the
 * caller compares the digest of the whole archive before it relies on a byte of it.
 */
export function openChunks(
  folder: Folder,
  manifest: Manifest,
  { isCompared } = { isCompared: false },
): ArchiveFile {
  const { chunks, size } = manifest;
  const starts = startsOf(chunks);
  const packs = createPackFiles(folder, manifest);
  const empty: Buffer = Buffer.alloc(0);
  let run: Run = { at: 0, bytes: empty, memory: empty };
  let spare: Buffer = empty;

  /** Reads whole chunks straight to where they are wanted; 0 when none that begins there fits. */
  async function readWhole(target: Buffer, position: number): Promise<number> {
    const first = indexOf(starts, position);
    if (starts[first] !== position || first >= chunks.count) return 0;
    const end = runEnd(chunks, { first, most: target.length });
    const length = (starts[end] ?? size) - position;
    if (length > target.length || length < leastDirectBytes) return 0;
    const bytes = target.subarray(0, length);
    await packs.fill(bytes, chunks.placeOf(first));
    if (!isCompared) assertChunks(bytes, { first, end });
    return length;
  }

  async function load(position: number): Promise<Run> {
    const first = indexOf(starts, position);
    const end = runEnd(chunks, { first, most: runBytes });
    if (end <= first) throw new Error(`there is no chunk at ${position}`);
    const runAt = starts[first] ?? 0;
    const runLength = (starts[end] ?? size) - runAt;
    const memory = spare.length < runLength ? Buffer.allocUnsafeSlow(Math.max(runBytes, runLength)) : spare;
    spare = empty;
    const bytes = memory.subarray(0, runLength);
    await packs.fill(bytes, chunks.placeOf(first));
    if (!isCompared) assertChunks(bytes, { first, end });
    return { at: runAt, bytes, memory };
  }

  function assertChunks(bytes: Buffer, { first, end }: { first: number; end: number }): void {
    let at = 0;
    for (let index = first; index < end; index += 1) {
      const { length, pack } = chunks.placeOf(index);
      if (!hash("sha256", bytes.subarray(at, at + length), "buffer").equals(chunks.digestOf(index)))
        throw corrupt(`chunk ${index} in ${packs.nameOf(pack)} is not what was written`);
      at += length;
    }
  }

  async function close(): Promise<void> {
    await packs.close();
    await folder.close();
  }

  return {
    stat: async () => ({ size }),
    read: async (buffer, ...place) => {
      const [offset, length, position] = place;
      if (position >= size || length === 0) return { bytesRead: 0 };
      const isIn = position >= run.at && position < run.at + run.bytes.length;
      if (!isIn) {
        const bytesRead = await readWhole(buffer.subarray(offset, offset + length), position);
        if (bytesRead > 0) return { bytesRead };
        const loaded = await load(position);
        spare = run.memory;
        run = loaded;
      }
      const from = position - run.at;
      return { bytesRead: run.bytes.copy(buffer, offset, from, from + length) };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Throws `backup_corrupt` that names a damaged chunk and its pack, where the file compares them. */
export async function readChunks(file: ArchiveFile, signal?: AbortSignal): Promise<void> {
  const { size } = await file.stat();
  for await (const _ of readAhead(file, size)) signal?.throwIfAborted();
}

function startsOf(chunks: ChunkList): Float64Array {
  const starts = new Float64Array(chunks.count);
  let at = 0;
  for (let index = 0; index < chunks.count; index += 1) {
    starts[index] = at;
    at += chunks.placeOf(index).length;
  }
  return starts;
}

/** The last chunk that begins at or before a position. */
function indexOf(starts: Float64Array, position: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** After chunks that follow one another in a pack too: so many bytes, but at least one chunk. */
function runEnd(chunks: ChunkList, { first, most }: { first: number; most: number }): number {
  if (first >= chunks.count) return first;
  let before = chunks.placeOf(first);
  let bytes = before.length;
  let end = first + 1;
  for (; end < chunks.count; end += 1) {
    const next = chunks.placeOf(end);
    bytes += next.length;
    if (next.pack !== before.pack || next.at !== before.at + before.length || bytes > most) break;
    before = next;
  }
  return end;
}

function createPackFiles(folder: Folder, { packs }: Manifest) {
  const open = new Map<number, FileHandle>();
  const nameOf = (pack: number) => packs[pack]?.name ?? "";

  async function fileOf(pack: number): Promise<FileHandle> {
    const known = open.get(pack);
    if (known) return known;
    const file = await folder.openFile(nameOf(pack)).catch((error: unknown) => {
      if (isWorldFault(error, "not_found")) throw corrupt(`${nameOf(pack)} is missing`);
      throw error;
    });
    const [oldest] = open;
    if (oldest && open.size >= mostOpenPacks) {
      open.delete(oldest[0]);
      await oldest[1].close();
    }
    open.set(pack, file);
    return file;
  }

  return {
    nameOf,
    fill: async (bytes: Buffer, { pack, at }: ChunkPlace): Promise<void> => {
      const file = await fileOf(pack);
      for (let have = 0; have < bytes.length; ) {
        const { bytesRead } = await file.read(bytes, have, bytes.length - have, at + have);
        if (bytesRead === 0) throw corrupt(`${nameOf(pack)} ends too early`);
        have += bytesRead;
      }
    },
    close: async () => {
      for (const file of open.values()) await file.close();
      open.clear();
    },
  };
}
