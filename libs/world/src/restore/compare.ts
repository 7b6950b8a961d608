// Compares an extracted tree with its archive, byte by byte.

import { findExtents } from "../archive/find-extents.ts";
import type { Archive } from "../archive/open.ts";
import { readTar } from "../archive/tar-reader.ts";
import { splitPath } from "../path/ancestry.ts";
import { Cursor } from "../path/cursor.ts";
import { type Extent, placed } from "../path/extents.ts";
import type { Folder } from "../path/folder.ts";
import { isLostAndFound } from "../path/lost-and-found.ts";
import { SourceFile } from "../path/source-file.ts";

const chunkBytes = 1 << 20;

/** Throws when a file differs from the archive, which is never the caller's fault. */
export async function compareTree(tree: Folder, archive: Archive): Promise<void> {
  await using cursor = new Cursor(tree);
  for await (const entry of readTar(archive.readAll().plain)) {
    if (isLostAndFound(entry.path) || entry.kind === "folder") continue;
    const { folder, name } = splitPath(entry.path);
    await using file = await (await cursor.at(folder)).openFile(name);
    for await (const { at, chunk } of placed(entry.content(), entry.extents)) {
      const read = Buffer.alloc(chunk.length);
      const { bytesRead } = await file.read(read, 0, chunk.length, at);
      if (bytesRead !== chunk.length || !read.equals(chunk)) throw different(entry.path);
    }
    if ((await file.stat()).size !== entry.size) throw different(entry.path);
    if (entry.extents)
      await compareHoles(await cursor.at(folder), { ...entry, name, extents: entry.extents });
  }
}

type WithHoles = { path: string; name: string; size: number; extents: readonly Extent[] };

/** Checks that holes of the archive are zeros here; holes on both sides are not read. */
async function compareHoles(folder: Folder, { path, name, size, extents }: WithHoles): Promise<void> {
  await using file = SourceFile.open(folder, name, path);
  const found = (await findExtents(file)) ?? [{ at: 0, length: size }];
  if (found === "unknown") throw different(path);
  const zeros = Buffer.alloc(chunkBytes);
  const read = Buffer.allocUnsafe(chunkBytes);
  for (const { at: start, length } of apart(found, extents)) {
    for (let at = start; at < start + length; ) {
      const wanted = read.subarray(0, Math.min(chunkBytes, start + length - at));
      const count = await file.read(wanted, at);
      if (count === 0 || wanted.compare(zeros, 0, count, 0, count) !== 0) throw different(path);
      at += count;
    }
  }
}

/** The parts of some ranges that lie in none of the others; both in order. */
export function apart(stretches: readonly Extent[], others: readonly Extent[]): Extent[] {
  const left: Extent[] = [];
  let index = 0;
  for (const { at: start, length } of stretches) {
    let at = start;
    const end = start + length;
    while (at < end) {
      for (let other = others[index]; other && other.at + other.length <= at; other = others[index])
        index += 1;
      const next = others[index];
      const until = Math.min(end, next?.at ?? end);
      if (until > at) left.push({ at, length: until - at });
      at = next && next.at < end ? Math.max(until, Math.min(end, next.at + next.length)) : end;
    }
  }
  return left;
}

function different(path: string): Error {
  return new Error(`${path} differs from the archive after it was extracted`);
}
