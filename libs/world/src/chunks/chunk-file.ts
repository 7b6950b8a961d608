// A deduplicated archive as one file: bytes come from the packs, and none leaves here before the digest of its chunk was
// compared.

import type { FileHandle } from "node:fs/promises";
import { corrupt } from "../archive/tar-header.ts";
import { isWorldFault } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import type { Folder } from "../path/folder.ts";
import { type Chunk, digestOfChunk, type Manifest } from "./manifest.ts";

/** Neighbours of a pack that follow one another in the archive are read in one go. */
const runBytes = 1 << 20;
const mostOpenPacks = 16;

type Run = { at: number; bytes: Buffer };

/** Takes over the folder and closes it. `read` throws `backup_corrupt` that names the chunk and the pack. */
export function openChunks(folder: Folder, manifest: Manifest): ArchiveFile {
  const { chunks, size } = manifest;
  const starts = startsOf(chunks);
  const packs = createPackFiles(folder, manifest);
  let run: Run = { at: 0, bytes: Buffer.alloc(0) };

  async function load(position: number): Promise<Run> {
    const first = indexOf(starts, position);
    const run = chunks.slice(first, runEnd(chunks, first));
    const [begin] = run;
    if (!begin) throw new Error(`there is no chunk at ${position}`);
    const bytes = await packs.read(
      begin,
      run.reduce((sum, { length }) => sum + length, 0),
    );
    let at = 0;
    for (const [index, { sha256, length, pack }] of run.entries()) {
      if (digestOfChunk(bytes.subarray(at, at + length)) !== sha256)
        throw corrupt(`chunk ${first + index} in ${packs.nameOf(pack)} is not what was written`);
      at += length;
    }
    return { at: starts[first] ?? 0, bytes };
  }

  return {
    stat: async () => ({ size }),
    read: async (buffer, ...place) => {
      const [offset, length, position] = place;
      if (position >= size || length === 0) return { bytesRead: 0 };
      const isIn = position >= run.at && position < run.at + run.bytes.length;
      const loaded = isIn ? run : await load(position);
      run = loaded;
      const from = position - loaded.at;
      return { bytesRead: loaded.bytes.copy(buffer, offset, from, from + length) };
    },
    close: async () => {
      await packs.close();
      await folder.close();
    },
  };
}

function startsOf(chunks: readonly Chunk[]): Float64Array {
  const starts = new Float64Array(chunks.length);
  let at = 0;
  for (const [index, { length }] of chunks.entries()) {
    starts[index] = at;
    at += length;
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

function runEnd(chunks: readonly Chunk[], first: number): number {
  let end = first + 1;
  for (let bytes = chunks[first]?.length ?? 0; end < chunks.length; end += 1) {
    const [before, next] = [chunks[end - 1], chunks[end]];
    if (!before || !next || next.pack !== before.pack || next.at !== before.at + before.length) break;
    bytes += next.length;
    if (bytes > runBytes) break;
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
    read: async ({ pack, at }: Chunk, length: number): Promise<Buffer> => {
      const file = await fileOf(pack);
      const bytes = Buffer.allocUnsafeSlow(length);
      for (let have = 0; have < length; ) {
        const { bytesRead } = await file.read(bytes, have, length - have, at + have);
        if (bytesRead === 0) throw corrupt(`${nameOf(pack)} ends too early`);
        have += bytesRead;
      }
      return bytes;
    },
    close: async () => {
      for (const file of open.values()) await file.close();
      open.clear();
    },
  };
}
