// What leaves the world by download: without the forwarding secret, with the RCON password masked, whatever name the files
// have (docs/reference/files.md#paths).

import type { Readable } from "node:stream";
import yazl from "yazl";
import type { Compression } from "../archive/frame-writer.ts";
import { countSkipped, noneSkipped, type Skipped } from "../archive/skipped.ts";
import { writeArchive } from "../archive/write.ts";
import { WorldFault } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import type { Folder } from "../path/folder.ts";
import { parseTarget } from "../path/parse.ts";
import { findProtected, isForwarding, isProperties } from "../path/protect.ts";
import { readAhead } from "../path/read-ahead.ts";
import { forwardingRefusal, masked } from "./read.ts";
import { holesOf, type LeftOutReason, mostHoleBytes, mostPropertiesBytes, zipFolder } from "./zip-tree.ts";

type Write = (chunk: Buffer) => Promise<void>;
type Options = { signal?: AbortSignal | undefined; onProgress?: ((bytes: number) => void) | undefined };

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
  file: Pick<ArchiveFile, "read">,
  { length, write, onProgress }: { length: number; write: Write; onProgress?: (bytes: number) => void },
): Promise<void> {
  let sent = 0;
  for await (const chunk of readAhead(file, length)) {
    await write(chunk);
    sent += chunk.length;
    onProgress?.(sent);
  }
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
  const onLeftOut = ({ path: left, reason }: { path: string; reason: LeftOutReason }) => {
    // Below the folder, as its archive would name it.
    if (reason !== "protected") countSkipped(skipped, { path: left.slice(name.length + 1), reason });
  };
  const filling = zipFolder({ zip, known, signal, onLeftOut }, folder, name)
    .then(() => zip.end())
    .catch((error: Error) => output.destroy(error));
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
