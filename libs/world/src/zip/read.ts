// Reads and checks the whole directory of a zip before anything is written (docs/reference/uploads.md#unzip).

import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import yauzl, { type Entry } from "yauzl";
import { printable, unsafe } from "../archive/tar-entry.ts";
import { Tree } from "../archive/tree.ts";
import { isWorldFault, WorldFault } from "../fault.ts";
import { mostPathBytes } from "../path/limits.ts";
import { isHidden, whyNoName } from "../path/parse.ts";
import { zipName } from "./name.ts";

export type ZipEntry = {
  path: string;
  kind: "file" | "folder";
  mode: number;
  mtimeMs: number;
  size: number;
  packedSize: number;
  isDeflated: boolean;
  crc32: number;
  headerAt: number;
  nameBytes: number;
};

/** Throws `archive_invalid`, `archive_unsafe`, also for more than `mostEntries`, `archive_symlink`, `type_conflict`. */
export async function readZip(
  file: FileHandle,
  mostEntries = Number.POSITIVE_INFINITY,
): Promise<{ entries: ZipEntry[]; tree: Tree }> {
  const { size } = await file.stat();
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: true };
  const tree = new Tree();
  const entries: ZipEntry[] = [];
  try {
    const zip = await yauzl.fromRandomAccessReaderPromise(new WindowReader(file, size), size, options);
    for await (const raw of zip.eachEntry()) {
      const entry = entryOf(raw);
      if (!entry) continue;
      tree.add(entry);
      entries.push(entry);
      if (entries.length > mostEntries)
        throw new WorldFault("archive_unsafe", `The archive has more than ${mostEntries} entries.`);
    }
  } catch (error) {
    if (isWorldFault(error) || (error as NodeJS.ErrnoException).syscall) throw error;
    throw invalid((error as Error).message);
  }
  assertApart(entries, size);
  return { entries, tree };
}

/**
 * The first file entry of each of these names, at the root or below. Looks at nothing else: jars have names twice, and others that no
 * world has. Throws `archive_invalid` for what is no zip.
 */
export async function findZipEntries(file: FileHandle, names: ReadonlySet<string>): Promise<ZipEntry[]> {
  const { size } = await file.stat();
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: true };
  const found = new Map<string, ZipEntry>();
  try {
    const zip = await yauzl.fromRandomAccessReaderPromise(new WindowReader(file, size), size, options);
    for await (const raw of zip.eachEntry()) {
      const name = raw.fileNameRaw.toString("latin1");
      if (!names.has(name) || found.has(name)) continue;
      const entry = entryOf(raw);
      if (entry?.kind === "file") found.set(name, entry);
    }
  } catch (error) {
    if (isWorldFault(error) || (error as NodeJS.ErrnoException).syscall) throw error;
    throw invalid((error as Error).message);
  }
  return [...found.values()];
}

function entryOf(raw: Entry): ZipEntry | undefined {
  const name = zipName(raw);
  if (name === undefined) throw unsafe(raw.fileNameRaw.toString("latin1"), "its name is not valid text");
  const unixMode = raw.externalFileAttributes >>> 16;
  const isFolder = kindOf(name, unixMode) === "folder";
  const path = safePath(name);
  if (path === undefined) return undefined;
  if (raw.isEncrypted()) throw invalid("it is encrypted", name);
  if (!isFolder && raw.compressionMethod !== 0 && raw.compressionMethod !== 8)
    throw invalid(`its compression method ${raw.compressionMethod} is not supported`, name);
  if (isFolder && raw.uncompressedSize > 0) throw invalid("a folder has content", name);
  const permissions = raw.versionMadeBy >> 8 === 3 ? unixMode & 0o777 : 0;
  const mode = isFolder ? (permissions || 0o755) | 0o700 : (permissions || 0o644) | 0o600;
  return {
    path,
    kind: isFolder ? "folder" : "file",
    mode,
    mtimeMs: timeOf(raw),
    size: raw.uncompressedSize,
    packedSize: raw.compressedSize,
    isDeflated: raw.compressionMethod === 8,
    crc32: raw.crc32,
    headerAt: raw.relativeOffsetOfLocalHeader,
    nameBytes: raw.fileNameLength,
  };
}

function kindOf(name: string, unixMode: number): "file" | "folder" {
  switch (unixMode & 0o170000) {
    case 0:
    case 0o100000:
      return name.endsWith("/") ? "folder" : "file";
    case 0o040000:
      return "folder";
    case 0o120000:
      throw new WorldFault("archive_symlink", `The archive holds a link, ${printable(name)}.`, {
        entry: printable(name),
      });
    default:
      throw unsafe(name, "devices, pipes and sockets are not allowed in a world");
  }
}

/** Undefined for the folder of the archive itself. */
function safePath(name: string): string | undefined {
  if (name.startsWith("/")) throw unsafe(name, "its path is absolute");
  if (/^[A-Za-z]:/.test(name)) throw unsafe(name, "its path starts with a drive letter");
  const names = name.split("/").filter((part) => part !== "" && part !== ".");
  if (Buffer.byteLength(name) > mostPathBytes)
    throw unsafe(name, `its path is longer than ${mostPathBytes} bytes`);
  for (const part of names) {
    const reason = whyNoName(part);
    if (reason) throw unsafe(name, reason);
    if (isHidden(part)) throw unsafe(name, "names that begin with .svc- belong to running operations");
  }
  if (names.length > 0) return names.join("/");
  if (name.endsWith("/") || name === ".") return undefined;
  throw unsafe(name, "it has no name");
}

/** Overlapping entries let a small zip claim a very large tree. */
function assertApart(entries: readonly ZipEntry[], size: number): void {
  let end = 0;
  for (const entry of [...entries].sort((one, other) => one.headerAt - other.headerAt)) {
    if (entry.headerAt < end) throw invalid("entries overlap", entry.path);
    end = entry.headerAt + 30 + entry.nameBytes + entry.packedSize;
    if (end > size) throw invalid("an entry exceeds the archive", entry.path);
  }
}

function timeOf(raw: Entry): number {
  const ms = raw.getLastModDate({ timezone: "UTC" }).getTime();
  return Number.isFinite(ms) ? Math.floor(ms) : 0;
}

export function invalid(reason: string, entry?: string): WorldFault {
  const about = entry === undefined ? {} : { entry: printable(entry) };
  const where = entry === undefined ? "The archive" : `The archive entry ${printable(entry)}`;
  return new WorldFault("archive_invalid", `${where} cannot be extracted: ${reason}.`, about);
}

const windowBytes = 1 << 20;

/** yauzl reads the directory in small steps; without this window 200,000 entries take half a minute. */
class WindowReader extends yauzl.RandomAccessReader {
  readonly #file: FileHandle;
  readonly #size: number;
  #window: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(file: FileHandle, size: number) {
    super();
    this.#file = file;
    this.#size = size;
  }

  override read(
    ...[buffer, offset, length, position, callback]: Parameters<yauzl.RandomAccessReader["read"]>
  ): void {
    this.#read(length, position).then(
      (bytes) => {
        bytes.copy(buffer, offset);
        callback(null);
      },
      (error: Error) => callback(error),
    );
  }

  override _readStreamForRange(): Readable {
    throw new Error("contents are read by extract.ts");
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }

  async #read(length: number, position: number): Promise<Buffer> {
    const isIn = position >= this.#at && position + length <= this.#at + this.#window.length;
    if (!isIn) {
      const wanted = Math.min(Math.max(length, windowBytes), Math.max(0, this.#size - position));
      const window = Buffer.alloc(wanted);
      const { bytesRead } = await this.#file.read(window, 0, wanted, position);
      this.#window = window.subarray(0, bytesRead);
      this.#at = position;
    }
    const bytes = this.#window.subarray(position - this.#at, position - this.#at + length);
    if (bytes.length < length) throw new Error("it ends too early");
    return bytes;
  }
}
