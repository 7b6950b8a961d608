// Unpacks what the layers of an image put below one folder. Everything else in the layers is skipped: only files and folders
// below that folder ever reach the disk (docs/reference/images.md#bases).

import { unsafe } from "../archive/tar-entry.ts";
import { corrupt, type RawHeader } from "../archive/tar-header.ts";
import { type ReadEntry, readTarAs } from "../archive/tar-reader.ts";
import { WorldFault } from "../fault.ts";
import { splitPath } from "../path/ancestry.ts";
import { Folder } from "../path/folder.ts";
import { longPathBytes } from "../path/limits.ts";
import { whyNoEntry } from "../path/name.ts";
import { isHidden } from "../path/parse.ts";
import { syncVolume } from "../path/sync-volume.ts";
import { TreeWriter } from "../restore/extract.ts";
import { createOverlay, isWhiteout, type Overlay } from "./overlay.ts";

export type UnpackLimits = {
  /** Entries below the folder. */
  entries: number;
  /** Bytes of all layers when they are unpacked, also of what is skipped. */
  plainBytes: number;
};

type Unpacking = {
  /** An empty folder. */
  target: string;
  /** The folder inside of the image, such as `data`. */
  below: string;
  limits: UnpackLimits;
};

type LayerEntry = {
  path: string;
  kind: "file" | "folder" | "other";
  mode: number;
  mtimeMs: number;
  size: number;
};
type Counted = { entries: number; bytes: number };

/**
 * Writes the files and waits until they are on disk. `layers` are unpacked tars **from the top layer down**. Throws a
 * `WorldFault` for a link or device below the folder, for a damaged layer and beyond the limits.
 */
export async function unpackLayers(
  { target, below, limits }: Unpacking,
  layers: AsyncIterable<AsyncIterable<Buffer>>,
): Promise<Counted> {
  await using folder = await Folder.openRoot(target);
  await using writer = new TreeWriter(folder, await folder.stat());
  const overlay = createOverlay();
  const counted: Counted = { entries: 0, bytes: 0 };
  const plain = { bytes: 0 };
  const inside = `${below}/`;
  for await (const layer of layers) {
    const bounded = boundBytes(layer, plain, limits.plainBytes);
    for await (const entry of readTarAs(bounded, acceptLayerEntry)) {
      const isBelow = entry.path.startsWith(inside);
      if (!isBelow && !mayHide(entry.path, below)) continue;
      if (!isAdmitted(overlay, entry) || !isBelow) continue;
      await write(writer, { ...entry, path: pathBelow(entry, inside) });
      counted.entries += 1;
      counted.bytes += entry.size;
      if (counted.entries > limits.entries)
        throw unsafe(entry.path, `an image may have at most ${limits.entries} entries below /${below}`);
    }
    overlay.endLayer();
  }
  await writer.finish();
  await syncVolume(folder);
  return counted;
}

/** Above the folder, whiteouts count, and whatever says that the folder or one above it is something else. */
function mayHide(path: string, below: string): boolean {
  const { folder, name } = splitPath(path);
  if (isWhiteout(name)) return folder === "" || below === folder || below.startsWith(`${folder}/`);
  return path === below || below.startsWith(`${path}/`);
}

function isAdmitted(overlay: Overlay, { path, kind }: LayerEntry): boolean {
  if (kind !== "other") return overlay.admits(path, kind);
  if (!overlay.admits(path, "file")) return false;
  throw unsafe(path, "it is a link or a device, which a world can't hold");
}

function pathBelow({ path }: LayerEntry, inside: string): string {
  const inner = path.slice(inside.length);
  if (!inner.isWellFormed()) throw unsafe(path, "a name is not UTF-8");
  if (isHidden(inner)) throw unsafe(path, "names that begin with .svc- belong to running operations");
  return inner;
}

/** Whatever an image says, its files can be read and changed by the server that gets them. */
async function write(writer: TreeWriter, entry: ReadEntry<LayerEntry>): Promise<void> {
  const { path, mtimeMs, size, content } = entry;
  if (entry.kind === "folder") return await writer.folder({ path, mode: entry.mode | 0o700, mtimeMs });
  await writer.file({ path, kind: "file", mode: entry.mode | 0o600, mtimeMs, size }, content());
}

function acceptLayerEntry({ path: given, type, mode, mtimeMs, size, realSize }: RawHeader) {
  if (size < 0) throw corrupt("a size is negative");
  if (realSize !== undefined) throw unsafe(given, "sparse files are not supported in images");
  const names = given.split("/").filter((name) => name !== "" && name !== ".");
  const reason = names.map(whyNoEntry).find((found) => found !== undefined);
  if (reason !== undefined) throw unsafe(given, reason);
  const path = names.join("/");
  if (path === "") return undefined;
  if (path.length > longPathBytes) throw unsafe(given, `its path is longer than ${longPathBytes} bytes`);
  const kind = kindOf(type, given);
  // What readers disagree on, a scanner may see otherwise than we do.
  if (kind !== "file" && size > 0) throw unsafe(given, "only files have content");
  return { path, kind, mode, mtimeMs, size } satisfies LayerEntry;
}

function kindOf(type: string, path: string): LayerEntry["kind"] {
  if (type === "0" || type === "7") return path.endsWith("/") ? "folder" : "file";
  if (type === "5") return "folder";
  if (/^[12346]$/.test(type)) return "other";
  throw unsafe(path, `entries of type ${JSON.stringify(type)} are not allowed in an image`);
}

async function* boundBytes(
  chunks: AsyncIterable<Buffer>,
  plain: { bytes: number },
  most: number,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    plain.bytes += chunk.length;
    if (plain.bytes > most)
      throw new WorldFault(
        "archive_unsafe",
        `The layers have more than ${most} bytes when they are unpacked.`,
      );
    yield chunk;
  }
}
