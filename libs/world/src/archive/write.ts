// A world as an archive: tar in frames, and for zstd the index and seek table after them.

import { createHash, type Hash } from "node:crypto";
import { type Extent, lengthOf } from "../path/extents.ts";
import type { Folder } from "../path/folder.ts";
import { createDigest, createDigestWriter, type Digest } from "./digests.ts";
import { type Compression, createFrameWriter, type FrameWriter, type Pieces } from "./frame-writer.ts";
import { createIndexWriter } from "./index-frame.ts";
import { encodeListFrame, encodeSeekTable, type Frame } from "./seek-table.ts";
import { countSkipped, noneSkipped, type Skipped } from "./skipped.ts";
import { encodeMap } from "./sparse.ts";
import { blockBytes, encodeEntry, paddingAfter, type TarEntry } from "./tar-header.ts";
import { type Found, walk } from "./walk.ts";

const nothing = Buffer.alloc(0);

export type WriteOptions = {
  compression: Compression;
  /** Each call of `write` then is one frame, a part of the digests, the index or the seek table. Absent: frames of some MiB. */
  pieces?: Pieces | undefined;
  /** Keeps the digest of each file (docs/reference/backups.md#digests); needs zstd. */
  fileDigests?: boolean | undefined;
  /** May release a chunk when it has used it. */
  write: (chunk: Buffer) => Promise<void>;
  signal?: AbortSignal | undefined;
  /** Bytes of data of files so far. */
  onProgress?: ((bytes: number) => void) | undefined;
  /** Content that takes the place of a file's own, or `omit` to leave the file out. */
  filter?: ((found: Found & { kind: "file" }) => Promise<Buffer | "omit" | undefined>) | undefined;
};

export type Written = {
  sizeBytes: number;
  sha256: string;
  entries: number;
  files: number;
  bytes: number;
  /** Of these, what is not a hole. */
  stored: number;
} & Skipped;

/** Writes all of a folder. Throws when a file changes while it is read: an archive never holds half of each. */
export async function writeArchive(root: Folder, options: WriteOptions): Promise<Written> {
  const sink = hashing(options.write);
  using frames = createFrameWriter(options, sink.write);
  using index = createIndexWriter();
  const digests = options.fileDigests && options.compression === "zstd" ? createDigestWriter() : undefined;
  const written = { entries: 0, files: 0, bytes: 0, stored: 0, ...noneSkipped() };
  for await (const found of walk(root, options)) {
    if (found.kind === "skipped") {
      countSkipped(written, found);
      continue;
    }
    const content = found.kind === "file" ? await options.filter?.(found) : undefined;
    if (content === "omit") continue;
    const entry = entryOf(found, content);
    const map = entry.stored === undefined ? nothing : encodeMap(extentsOf(found) ?? [], entry.size);
    const stored = entry.stored ?? entry.size;
    const isLarge = options.pieces !== undefined && stored >= 2 * options.pieces.smallBytes;
    if (options.pieces && beginsGroup(entry.path)) frames.cut();
    await index.add({ ...entry, headerAt: frames.position() });
    await frames.append(encodeEntry(entry, map.length));
    await frames.append(map);
    if (isLarge) frames.cut();
    const digest = digests && entry.stored === undefined ? createDigest() : undefined;
    if (content) {
      digest?.update(content, true);
      await frames.append(content);
    } else if (found.kind === "file") await copyFile(found, { frames, isLarge, digest });
    if (found.kind === "file") digests?.add(digest?.digest());
    if (isLarge) frames.cut({ isPiece: true });
    await frames.append(Buffer.alloc(paddingAfter(map.length + stored)));
    written.stored += stored;
    written.entries += 1;
    written.files += found.kind === "file" ? 1 : 0;
    written.bytes += entry.size;
    options.onProgress?.(written.stored);
  }
  await frames.append(Buffer.alloc(2 * blockBytes));
  const table = await frames.finish();
  if (options.compression === "zstd") {
    const lists = { digests: digests?.finish(), index: await index.finish() };
    for (const part of encodeLists(lists, { table, sliceBytes: options.pieces?.smallBytes }))
      await sink.write(part);
  }
  return { ...written, sizeBytes: sink.size(), sha256: sink.hash.digest("hex") };
}

type Ending = { table: readonly Frame[]; sliceBytes: number | undefined };

/** What follows the frames. The digests come in slices: those before a file that is new are the same as in an earlier archive. */
function* encodeLists(
  lists: { digests: Buffer | undefined; index: Buffer },
  { table, sliceBytes }: Ending,
): Generator<Buffer> {
  const digests = lists.digests ? encodeListFrame("digests", lists.digests) : Buffer.alloc(0);
  const index = encodeListFrame("index", lists.index);
  // The memory of a part is freed once it is written.
  const seekTable = encodeSeekTable([
    ...table,
    ...[digests, index].flatMap(({ length }) => (length > 0 ? [{ packed: length, plain: 0 }] : [])),
  ]);
  const { length } = digests;
  const step = sliceBytes ?? length;
  for (let at = 0; at < length; at += step) yield digests.subarray(at, at + step);
  yield index;
  yield seekTable;
}

function entryOf(found: Found & { kind: "file" | "folder" }, content: Buffer | undefined): TarEntry {
  const size = found.kind === "folder" ? 0 : (content?.length ?? found.stats.size);
  const { mode, mtimeMs } = found.stats;
  const extents = content === undefined ? extentsOf(found) : undefined;
  return {
    path: found.path,
    kind: found.kind,
    mode: mode & 0o777,
    mtimeMs: Math.floor(mtimeMs),
    size,
    ...(extents && { stored: lengthOf(extents) }),
  };
}

function extentsOf(found: Found & { kind: "file" | "folder" }): Extent[] | undefined {
  return found.kind === "file" ? found.extents : undefined;
}

/**
 * Small entries share a frame. Which of them begins one depends on its own name alone, so that another file before it
 * changes nothing for those after it.
 */
function beginsGroup(path: string): boolean {
  let hash = 0x811c9dc5;
  for (let at = 0; at < path.length; at += 1) hash = Math.imul(hash ^ path.charCodeAt(at), 0x01000193);
  return hash >>> 28 === 0;
}

type Copying = { frames: FrameWriter; isLarge: boolean; digest: Digest | undefined };

async function copyFile(
  { file, path, stats, extents }: Found & { kind: "file" },
  { frames, isLarge, digest }: Copying,
) {
  for (const { at: start, length } of extents ?? [{ at: 0, length: stats.size }]) {
    const end = start + length;
    for (let at = start; at < end; ) {
      const room = frames.room().subarray(0, end - at);
      const count = await file.read(room, at);
      if (count === 0) throw new Error(`${path} became shorter while it was read`);
      digest?.update(room.subarray(0, count), count === stats.size);
      await frames.advance(count, isLarge ? at : undefined);
      at += count;
    }
  }
  file.assertUnchanged();
}

function hashing(write: (chunk: Buffer) => Promise<void>) {
  const hash: Hash = createHash("sha256");
  let size = 0;
  return {
    hash,
    size: () => size,
    write: async (chunk: Buffer) => {
      hash.update(chunk);
      size += chunk.length;
      await write(chunk);
    },
  };
}
