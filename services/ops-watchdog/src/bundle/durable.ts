// Files that are whole or not there after a power cut.

import type { WriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { releaseChunk } from "@svc/mesh";

export async function writeDurably(path: string, bytes: string | Buffer): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.partial`);
  await rm(partial, { force: true });
  const file = await open(partial, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(partial, path);
}

/**
 * A stream into a file that is there already: one that its stream has yet to open could appear after it was removed. `wx`
 * fails when it exists.
 */
export async function writeInto(path: string, flags: "w" | "wx" = "w"): Promise<WriteStream> {
  const file = await open(path, flags, 0o600);
  return file.createWriteStream({ flush: true });
}

/** Of a file or a folder. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes a private file and puts it on the disk. The chunks are the writer's: each is freed once it is written. The next one
 * is made while one is written.
 */
export async function writeChunks(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, "w", 0o600);
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of chunks) {
      await writing;
      writing = file.writeFile(chunk).then(() => releaseChunk(chunk));
      writing.catch(() => undefined);
    }
    await writing;
    await file.sync();
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
}
