// What leaves the world by download: without the forwarding secret, with the RCON password masked, whatever name the files
// have (docs/reference/files.md#paths).

import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import yazl from "yazl";
import type { Compression } from "../archive/frame-writer.ts";
import { countSkipped, noneSkipped, type Skipped } from "../archive/skipped.ts";
import { type Found, walk } from "../archive/walk.ts";
import { writeArchive } from "../archive/write.ts";
import { WorldFault } from "../fault.ts";
import { allocatedBytes } from "../path/extents.ts";
import type { Folder } from "../path/folder.ts";
import { parseTarget } from "../path/parse.ts";
import { findProtected, isForwarding, isProperties, type Protected } from "../path/protect.ts";
import { readAhead } from "../path/read-ahead.ts";
import { forwardingRefusal, masked } from "./read.ts";

type Write = (chunk: Buffer) => Promise<void>;
type Options = { signal?: AbortSignal | undefined; onProgress?: ((bytes: number) => void) | undefined };

const chunkBytes = 1 << 20;
/** How many bytes of a file may be holes where holes can't be kept: in a zip, and in the download of a single file. */
const mostHoleBytes = 4 * 2 ** 30;
/** Longest `server.properties` whose password is masked. No server writes a longer one; it is left out. */
const mostPropertiesBytes = 1 << 20;
const mostZipPathBytes = 65_535;
/** Already compressed; compressing them again gains nothing. */
const packedNames = /\.(mca|mcr|jar|zip|gz|zst|png|jpg|ogg|7z|xz)$/i;

/** The whole world as a filtered archive. */
export async function sendWorld(
  world: Folder,
  { compression, write, ...options }: Options & { compression: Compression; write: Write },
): Promise<void> {
  const known = await findProtected(world);
  await writeArchive(world, {
    ...options,
    compression,
    write,
    filter: async ({ file, stats }) => {
      if (isForwarding(known, stats)) return "omit";
      if (!isProperties(known, stats)) return undefined;
      return stats.size > mostPropertiesBytes ? "omit" : masked(await file.readAll());
    },
  });
}

type OpenedFile = AsyncDisposable & { length: number; send: (write: Write) => Promise<void> };

/** One file with its length. Throws `bad_path`, also for the forwarding secret, `not_found`. */
export async function openDownload(world: Folder, path: string): Promise<OpenedFile> {
  const { parents, name } = parseTarget(path);
  await using folder = await world.descend(parents);
  const file = await folder.openFile(name);
  try {
    const stats = await file.stat();
    const known = await findProtected(world);
    if (isForwarding(known, stats)) throw forwardingRefusal();
    if (holesOf(stats) > mostHoleBytes)
      throw new WorldFault(
        "too_large",
        `${name} has ${stats.size} bytes, nearly all of them holes, which a download would send as zeros; export the world instead, which keeps them.`,
      );
    const hasPassword = isProperties(known, stats);
    if (hasPassword && stats.size > mostPropertiesBytes)
      throw new WorldFault(
        "too_large",
        `${name} has ${stats.size} bytes, which is too long for a server.properties.`,
      );
    const content = hasPassword ? masked(await file.readFile()) : undefined;
    return {
      length: content?.length ?? stats.size,
      send: (write) => (content ? write(content) : sendFile(file, { length: stats.size, write })),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Sends an open file of a known length. */
export async function sendFile(
  file: FileHandle,
  { length, write, onProgress }: { length: number; write: Write; onProgress?: (bytes: number) => void },
): Promise<void> {
  let sent = 0;
  for await (const chunk of readAhead(file, length)) {
    await write(chunk);
    sent += chunk.length;
    onProgress?.(sent);
  }
}

function holesOf(stats: Pick<Stats, "size" | "blocks">): number {
  return stats.size - allocatedBytes(stats);
}

/**
 * Sends a folder as a zip, under its own name, and reports what is left out: what no archive holds, and files that are
 * nearly all holes. Throws `bad_path`, `not_found`.
 */
export async function sendFolder(
  world: Folder,
  path: string,
  { write, signal, onProgress }: Options & { write: Write },
): Promise<Skipped> {
  const { parents, name } = parseTarget(path);
  await using folder = await world.descend([...parents, name]);
  const known = await findProtected(world);
  const zip = new yazl.ZipFile();
  const output = zip.outputStream as Readable;
  // yazl takes entries as fast as they are given; one at a time keeps one file open, and few entries waiting.
  const skipped = noneSkipped();
  const about = { folder, name: name.toWellFormed(), known, signal, skipped };
  const filling = fill(zip, about).catch((error: Error) => output.destroy(error));
  zip.once("error", (error: Error) => output.destroy(error));
  let bytes = 0;
  for await (const chunk of output) {
    signal?.throwIfAborted();
    await write(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    onProgress?.(bytes);
  }
  await filling;
  return skipped;
}

type Filling = {
  folder: Folder;
  name: string;
  known: Protected;
  signal?: AbortSignal | undefined;
  skipped: Skipped;
};

async function fill(zip: yazl.ZipFile, { folder, name, known, signal, skipped }: Filling): Promise<void> {
  zip.addEmptyDirectory(name);
  for await (const found of walk(folder, { signal, isWhole: false })) {
    if (found.kind === "skipped") {
      countSkipped(skipped, found);
      continue;
    }
    if (found.kind === "file" && holesOf(found.stats) > mostHoleBytes) {
      countSkipped(skipped, { path: found.path, reason: "holes" });
      continue;
    }
    const path = `${name}/${found.path.toWellFormed()}`;
    if (Buffer.byteLength(path) >= mostZipPathBytes) {
      countSkipped(skipped, { path: found.path, reason: "too_long" });
      continue;
    }
    const options = { mtime: new Date(found.stats.mtimeMs), mode: found.stats.mode & 0o177777 };
    if (found.kind === "folder") zip.addEmptyDirectory(path, options);
    if (found.kind === "folder" || isForwarding(known, found.stats)) continue;
    const hasPassword = isProperties(known, found.stats);
    if (hasPassword && found.stats.size > mostPropertiesBytes) continue;
    if (hasPassword) zip.addBuffer(masked(await found.file.readAll()), path, options);
    else await addFile(zip, { found, path, options });
  }
  zip.end();
}

type Adding = {
  found: Found & { kind: "file" };
  path: string;
  options: { mtime: Date; mode: number };
};

/** Resolves when the content has been read and the file is closed. */
async function addFile(zip: yazl.ZipFile, { found, path, options }: Adding): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    zip.once("error", reject);
    zip.addReadStreamLazy(path, { ...options, compress: !packedNames.test(path) }, (take) => {
      const stream = Readable.from(found.file.content(), { objectMode: false, highWaterMark: chunkBytes });
      stream.once("close", () => {
        zip.removeListener("error", reject);
        resolve();
      });
      stream.once("error", reject);
      take(null, stream);
    });
  });
}
