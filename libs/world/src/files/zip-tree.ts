// Files and folders of a world into a zip, without the forwarding secret, with the RCON password masked, whatever name the
// files have (docs/reference/files.md#paths). What cannot be in one is left out, with the reason.

import type { Stats } from "node:fs";
import { Readable } from "node:stream";
import type yazl from "yazl";
import { type Found, type SkipReason, walk } from "../archive/walk.ts";
import { allocatedBytes } from "../path/extents.ts";
import type { Folder } from "../path/folder.ts";
import { isForwarding, isProperties, type Protected } from "../path/protect.ts";
import { masked } from "./read.ts";

/** How many bytes of a file may be holes where holes can't be kept: in a zip, and in the download of a single file. */
export const mostHoleBytes = 4 * 2 ** 30;
/** Longest `server.properties` whose password is masked. No server writes a longer one; it is left out. */
export const mostPropertiesBytes = 1 << 20;
const chunkBytes = 1 << 20;
const mostZipPathBytes = 65_535;
/** Already compressed; compressing them again gains nothing. */
const packedNames = /\.(mca|mcr|jar|zip|gz|zst|png|jpg|ogg|7z|xz)$/i;

/** `protected`: the forwarding secret, or a `server.properties` that is too long to be masked. */
export type LeftOutReason = SkipReason | "protected";

export type Zipping = {
  zip: yazl.ZipFile;
  known: Protected;
  signal?: AbortSignal | undefined;
  onLeftOut: (left: { path: string; reason: LeftOutReason }) => void;
  /** Called for each file and folder before it is added; what it throws ends all. */
  onEntry?: (entry: { bytes: number }) => void;
};

export function holesOf(stats: Pick<Stats, "size" | "blocks">): number {
  return stats.size - allocatedBytes(stats);
}

/** Adds a folder under a name with all that is in it. */
export async function zipFolder(zipping: Zipping, folder: Folder, name: string): Promise<void> {
  const { zip, signal, onLeftOut, onEntry } = zipping;
  onEntry?.({ bytes: 0 });
  zip.addEmptyDirectory(name.toWellFormed(), optionsOf(await folder.stat()));
  for await (const found of walk(folder, { signal, isWhole: false })) {
    if (found.kind === "skipped") onLeftOut({ path: `${name}/${found.path}`, reason: found.reason });
    else await zipFound(zipping, { found, path: `${name}/${found.path}` });
  }
}

type Adding = {
  found: Exclude<Found, { kind: "skipped" }>;
  /** In the zip. */
  path: string;
};

/** Adds one file, or a folder without what is in it; resolves when the content has been read. */
export async function zipFound(zipping: Zipping, { found, path: given }: Adding): Promise<void> {
  const { zip, onLeftOut, onEntry } = zipping;
  const reason = whyLeftOut(zipping, { found, path: given });
  if (reason) return onLeftOut({ path: given, reason });
  const path = given.toWellFormed();
  const options = optionsOf(found.stats);
  onEntry?.({ bytes: found.kind === "file" ? found.stats.size : 0 });
  if (found.kind === "folder") zip.addEmptyDirectory(path, options);
  else if (isProperties(zipping.known, found.stats))
    zip.addBuffer(masked(await found.file.readAll()), path, options);
  else await addContent(zipping, { found, path, options });
}

function optionsOf({ mtimeMs, mode }: Stats): { mtime: Date; mode: number } {
  return { mtime: new Date(mtimeMs), mode: mode & 0o177777 };
}

function whyLeftOut({ known }: Zipping, { found, path }: Adding): LeftOutReason | undefined {
  const { kind, stats } = found;
  if (kind === "file" && holesOf(stats) > mostHoleBytes) return "holes";
  if (Buffer.byteLength(path.toWellFormed()) >= mostZipPathBytes) return "too_long";
  if (kind === "folder") return undefined;
  const isTooLong = isProperties(known, stats) && stats.size > mostPropertiesBytes;
  return isForwarding(known, stats) || isTooLong ? "protected" : undefined;
}

type Content = {
  found: Found & { kind: "file" };
  path: string;
  options: { mtime: Date; mode: number };
};

/** Resolves when the content has been read and the file is closed; rejects at once when it is aborted. */
async function addContent({ zip, signal }: Zipping, { found, path, options }: Content): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The zip may never ask for this content when nobody reads what came before it.
  const onAbort = () => reject(signal?.reason as Error);
  signal?.addEventListener("abort", onAbort);
  zip.once("error", reject);
  try {
    zip.addReadStreamLazy(path, { ...options, compress: !packedNames.test(path) }, (take) => {
      const stream = Readable.from(found.file.content(), {
        objectMode: false,
        highWaterMark: chunkBytes,
        ...(signal && { signal }),
      });
      stream.once("close", resolve);
      stream.once("error", reject);
      take(null, stream);
    });
    await promise;
  } finally {
    zip.removeListener("error", reject);
    signal?.removeEventListener("abort", onAbort);
  }
}
