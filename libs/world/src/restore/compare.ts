// Compares an extracted tree with its archive, byte by byte.

import type { Archive } from "../archive/open.ts";
import { readTar } from "../archive/tar-reader.ts";
import { splitPath } from "../path/ancestry.ts";
import { Cursor } from "../path/cursor.ts";
import type { Folder } from "../path/folder.ts";
import { isLostAndFound } from "./restore.ts";

/** Throws when a file differs from the archive; that is never the caller's fault. */
export async function compareTree(tree: Folder, archive: Archive): Promise<void> {
  await using cursor = new Cursor(tree);
  for await (const entry of readTar(archive.readAll().plain)) {
    if (isLostAndFound(entry.path) || entry.kind === "folder") continue;
    const { folder, name } = splitPath(entry.path);
    await using file = await (await cursor.at(folder)).openFile(name);
    let at = 0;
    for await (const chunk of entry.content()) {
      const read = Buffer.alloc(chunk.length);
      const { bytesRead } = await file.read(read, 0, chunk.length, at);
      if (bytesRead !== chunk.length || !read.equals(chunk)) throw different(entry.path);
      at += chunk.length;
    }
    if ((await file.stat()).size !== at) throw different(entry.path);
  }
}

function different(path: string): Error {
  return new Error(`${path} is not the same as in the archive after it was extracted`);
}
