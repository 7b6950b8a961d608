// Headers of tar: written as ustar with pax records where those are needed, read as ustar, pax and GNU.

import { WorldFault } from "../fault.ts";
import { decodePath, encodeName, isRawName } from "../path/name.ts";

export const blockBytes = 512;

/** One entry of an archive. `path` is relative with forward slashes and no slash at its end; `size` is 0 for folders. */
export type TarEntry = {
  path: string;
  kind: "file" | "folder";
  /** Permission bits only. */
  mode: number;
  mtimeMs: number;
  /** Includes the holes of a sparse file. */
  size: number;
  /** Only for a sparse file: bytes of its data. */
  stored?: number | undefined;
};

/** Bytes that an entry takes on disk. */
export function roomOf({ size, stored }: Pick<TarEntry, "size" | "stored">): number {
  return stored ?? size;
}

/** A header as read, before any check. */
export type RawHeader = {
  path: string;
  /** Type flag of tar: `0` file, `5` folder, `1` and `2` links, `x`, `L` and `K` records about the next entry. */
  type: string;
  /** Only of a link: where it leads. */
  target?: string | undefined;
  mode: number;
  mtimeMs: number;
  /** Bytes of content that follow. */
  size: number;
  /** Only for a sparse file: its length; its content begins with the map of its extents. */
  realSize?: number | undefined;
};

/** Padding after a content up to the next header. */
export function paddingAfter(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** The header blocks of one entry; `mapBytes` is the length of a sparse file's map. */
export function encodeEntry(entry: TarEntry, mapBytes = 0): Buffer {
  if (entry.stored !== undefined) return encodeSparse(entry, mapBytes + entry.stored);
  const path = encodeName(entry.kind === "folder" ? `${entry.path}/` : entry.path);
  const split = splitPath(path);
  const isRaw = isRawName(entry.path);
  const records: Record[] = [];
  if (!split && !isRaw) records.push(["path", path.toString()]);
  records.push(...commonRecords(entry.mtimeMs, entry.size));
  const blocks: Buffer[] = [];
  if (records.length > 0)
    blocks.push(special("x", Buffer.concat(records.map(([key, value]) => paxRecord(key, value)))));
  if (!split && isRaw) blocks.push(special("L", Buffer.concat([path, Buffer.of(0)])));
  const { name, prefix } = split ?? { name: path.subarray(0, 100), prefix: Buffer.alloc(0) };
  const type = entry.kind === "folder" ? "5" : "0";
  blocks.push(
    header({ name, prefix, type, size: entry.size, mode: entry.mode, mtime: entry.mtimeMs / 1_000 }),
  );
  return Buffer.concat(blocks);
}

type Record = [key: string, value: string | Buffer];

function commonRecords(mtimeMs: number, size: number): Record[] {
  const records: Record[] = [];
  if (mtimeMs % 1_000 !== 0 || mtimeMs < 0 || mtimeMs >= octalLimit(12) * 1_000)
    records.push(["mtime", (Math.floor(mtimeMs) / 1_000).toFixed(3)]);
  if (size >= octalLimit(12)) records.push(["size", String(size)]);
  return records;
}

/** As GNU tar does: the name in the header is for readers without sparse support. */
function encodeSparse({ path, size, mode, mtimeMs }: TarEntry, contentBytes: number): Buffer {
  const records: Record[] = [
    ["GNU.sparse.major", "1"],
    ["GNU.sparse.minor", "0"],
    ["GNU.sparse.name", encodeName(path)],
    ["GNU.sparse.realsize", String(size)],
    ...commonRecords(mtimeMs, contentBytes),
  ];
  const name = Buffer.concat([
    Buffer.from("GNUSparseFile.0/"),
    encodeName(path.slice(path.lastIndexOf("/") + 1)),
  ]);
  const about = { name: name.subarray(0, 100), prefix: Buffer.alloc(0), type: "0" };
  return Buffer.concat([
    special("x", Buffer.concat(records.map(([key, value]) => paxRecord(key, value)))),
    header({ ...about, size: contentBytes, mode, mtime: mtimeMs / 1_000 }),
  ]);
}

/** Reads one header block; undefined for a zero block, the end of an archive. Throws `backup_corrupt`. */
export function decodeHeader(block: Buffer): RawHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  if (number(block, 148, 8) !== checksum(block)) throw corrupt("the checksum of a header does not match");
  const isUstar = block.toString("latin1", 257, 262) === "ustar";
  const isGnu = block.toString("latin1", 257, 265) === "ustar  \0";
  const name = cString(block.subarray(0, 100));
  const prefix = isUstar && !isGnu ? cString(block.subarray(345, 500)) : Buffer.alloc(0);
  const path = prefix.length > 0 ? Buffer.concat([prefix, Buffer.from("/"), name]) : name;
  return {
    path: decodePath(path),
    type: block[156] === 0 ? "0" : String.fromCharCode(block[156] ?? 0),
    target: decodePath(cString(block.subarray(157, 257))),
    mode: number(block, 100, 8) & 0o777,
    mtimeMs: number(block, 136, 12) * 1_000,
    size: number(block, 124, 12),
  };
}

/** Applies the records of a pax header to the entry after it. */
export function applyPax(records: Buffer, header: RawHeader): RawHeader {
  const changed = { ...header };
  const sparse = new Map<string, string>();
  for (let at = 0; at < records.length; ) {
    const space = records.indexOf(0x20, at);
    const length = Number(records.toString("latin1", at, space));
    const end = at + length;
    if (space < 0 || !Number.isInteger(length) || length < 5 || end > records.length || end <= space + 1)
      throw corrupt("an extended header is malformed");
    const equals = records.indexOf(0x3d, space);
    if (equals < 0 || equals >= end) throw corrupt("an extended header is malformed");
    const key = records.toString("utf8", space + 1, equals);
    const value = records.subarray(equals + 1, end - 1);
    if (key === "path") changed.path = decodePath(value);
    if (key === "linkpath") changed.target = decodePath(value);
    if (key === "size") changed.size = decimal(value);
    if (key === "mtime") changed.mtimeMs = Math.round(Number(value.toString()) * 1_000);
    if (key === "GNU.sparse.name") changed.path = decodePath(value);
    else if (key === "GNU.sparse.realsize") changed.realSize = decimal(value);
    else if (key.startsWith("GNU.sparse.")) sparse.set(key, value.toString("latin1"));
    at = end;
  }
  if (sparse.size > 0 || changed.realSize !== undefined) assertOurSparse(changed, sparse);
  if (!Number.isFinite(changed.mtimeMs)) throw corrupt("a time is not a number");
  return changed;
}

/** Only version 1.0: earlier versions have the map in the records. */
function assertOurSparse({ type, realSize }: RawHeader, records: ReadonlyMap<string, string>): void {
  const isOurs = records.get("GNU.sparse.major") === "1" && records.get("GNU.sparse.minor") === "0";
  if (!isOurs || records.size !== 2 || realSize === undefined || !/^[07]$/.test(type))
    throw corrupt("a sparse file has an unsupported format");
}

export function corrupt(reason: string): WorldFault {
  return new WorldFault("backup_corrupt", `The archive is damaged: ${reason}.`);
}

type Fields = { name: Buffer; prefix: Buffer; type: string; size: number; mode: number; mtime: number };

function header({ name, prefix, type, size, mode, mtime }: Fields): Buffer {
  const block = Buffer.alloc(blockBytes);
  name.copy(block, 0);
  prefix.copy(block, 345);
  writeOctal(block, mode & 0o777, [100, 8]);
  writeOctal(block, 0, [108, 8]);
  writeOctal(block, 0, [116, 8]);
  writeOctal(block, size < octalLimit(12) ? size : 0, [124, 12]);
  writeOctal(block, mtime >= 0 && mtime < octalLimit(12) ? Math.floor(mtime) : 0, [136, 12]);
  block.write(type, 156, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(`${checksum(block).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function special(type: string, content: Buffer): Buffer {
  const name = Buffer.from(type === "x" ? "././@PaxHeader" : "././@LongLink");
  const block = header({ name, prefix: Buffer.alloc(0), type, size: content.length, mode: 0o644, mtime: 0 });
  return Buffer.concat([block, content, Buffer.alloc(paddingAfter(content.length))]);
}

/** Fits a path into the two fields of ustar; undefined when it does not fit. */
function splitPath(path: Buffer): { name: Buffer; prefix: Buffer } | undefined {
  if (path.length <= 100) return { name: path, prefix: Buffer.alloc(0) };
  for (let at = Math.min(155, path.length - 2); at >= path.length - 101 && at > 0; at -= 1) {
    if (path[at] === 0x2f) return { name: path.subarray(at + 1), prefix: path.subarray(0, at) };
  }
  return undefined;
}

function paxRecord(key: string, value: string | Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value as string), Buffer.from("\n")]);
  let length = rest.length + String(rest.length).length;
  length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function octalLimit(width: number): number {
  return 8 ** (width - 1);
}

function writeOctal(block: Buffer, value: number, [at, width]: [at: number, width: number]): void {
  block.write(`${value.toString(8).padStart(width - 1, "0")}\0`, at, "latin1");
}

function checksum(block: Buffer): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < blockBytes; at += 1) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}

/** A number of a header: octal text or GNU's base 256. */
function number(block: Buffer, at: number, width: number): number {
  const first = block[at] ?? 0;
  if (first & 0x80) {
    let value = first & 0x40 ? -1 : 0;
    for (let index = 0; index < width; index += 1) {
      const byte = block[at + index] ?? 0;
      value = value * 256 + (index === 0 ? (first & 0x40 ? byte - 0x80 - 0x7f : byte & 0x7f) : byte);
    }
    if (!Number.isSafeInteger(value)) throw corrupt("a number of a header is too large");
    return value;
  }
  const text = cString(block.subarray(at, at + width))
    .toString("latin1")
    .trim();
  if (text === "") return 0;
  if (!/^[0-7]+$/.test(text)) throw corrupt("a number of a header is not octal");
  return Number.parseInt(text, 8);
}

function decimal(value: Buffer): number {
  const text = value.toString("latin1");
  const parsed = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(parsed)) throw corrupt("a size is not a number");
  return parsed;
}

function cString(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}
