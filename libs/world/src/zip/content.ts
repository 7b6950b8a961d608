// Reads one entry of a zip: never more bytes than the directory says, with its checksum verified.

import { readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { promisify } from "node:util";
import { crc32, createInflateRaw, inflateRaw, inflateRawSync } from "node:zlib";
import { releaseConsumed } from "../buffer-release.ts";
import { errnoOf } from "../fault.ts";
import { invalid, type ZipEntry } from "./read.ts";

const inflateWhole = promisify(inflateRaw);
const localHeaderBytes = 30;
/** Largest entry, compressed and uncompressed together, that is decompressed in one call. */
const smallBytes = 8 << 20;
const tinyBytes = 128 << 10;
const chunkBytes = 1 << 20;

export function isSmall({ size, packedSize }: ZipEntry): boolean {
  return size + packedSize <= smallBytes;
}

/** An entry so small that synchronous decompression is quicker than the thread pool. */
export function isTiny({ size, packedSize }: ZipEntry): boolean {
  return size + packedSize <= tinyBytes;
}

/** The content of a tiny entry. Throws `archive_invalid`. */
export function readTiny(file: FileHandle, entry: ZipEntry): Buffer {
  const wanted = Buffer.allocUnsafe(guessBytes(entry));
  const first = wanted.subarray(0, readSync(file.fd, wanted, 0, wanted.length, entry.headerAt));
  const start = dataStart(first, entry);
  const packed = Buffer.alloc(entry.packedSize);
  const have = first.copy(packed, 0, start);
  const rest = packed.length - have;
  if (rest > 0 && readSync(file.fd, packed, have, rest, entry.headerAt + start + have) < rest)
    throw invalid("the archive ends too early", entry.path);
  if (!entry.isDeflated) return checked(packed, entry);
  try {
    return checked(inflateRawSync(packed, inOneGo(entry)), entry);
  } catch (error) {
    throw explained(error, entry);
  }
}

/** The content of a small entry. Throws `archive_invalid`. */
export async function readSmall(file: FileHandle, entry: ZipEntry): Promise<Buffer> {
  const first = await readUpTo(file, entry.headerAt, guessBytes(entry));
  const start = dataStart(first, entry);
  const all =
    start + entry.packedSize <= first.length
      ? first
      : await readUpTo(file, entry.headerAt, start + entry.packedSize);
  const packed = all.subarray(start, start + entry.packedSize);
  if (packed.length < entry.packedSize) throw invalid("the archive ends too early", entry.path);
  if (!entry.isDeflated) return checked(packed, entry);
  try {
    const plain = await inflateWhole(packed, inOneGo(entry));
    releaseConsumed(all);
    return checked(plain, entry);
  } catch (error) {
    throw explained(error, entry);
  }
}

/** One byte more than expected, so that one turn of the thread pool reaches the end. */
function inOneGo({ size }: ZipEntry) {
  return { maxOutputLength: Math.max(1, size), chunkSize: size + 64 };
}

/** A large entry in chunks. Throws `archive_invalid`, at the latest at its end. */
export async function* readLarge(file: FileHandle, entry: ZipEntry): AsyncGenerator<Buffer> {
  const head = await readUpTo(file, entry.headerAt, localHeaderBytes);
  const packed = readRange(file, entry, entry.headerAt + dataStart(head, entry));
  let size = 0;
  let sum = 0;
  try {
    for await (const chunk of entry.isDeflated ? inflated(packed) : packed) {
      size += chunk.length;
      if (size > entry.size) throw invalid("it is larger than the archive says", entry.path);
      sum = crc32(chunk, sum);
      yield chunk;
    }
  } catch (error) {
    throw explained(error, entry);
  }
  if (size !== entry.size) throw invalid("it is smaller than the archive says", entry.path);
  if (sum !== entry.crc32) throw invalid("its checksum does not match", entry.path);
}

async function* readRange(file: FileHandle, entry: ZipEntry, from: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < entry.packedSize; ) {
    const chunk = await readUpTo(file, from + at, Math.min(chunkBytes, entry.packedSize - at));
    if (chunk.length === 0) throw invalid("the archive ends too early", entry.path);
    at += chunk.length;
    yield chunk;
  }
}

async function* inflated(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw({ chunkSize: chunkBytes });
  const feed = (async () => {
    for await (const chunk of packed) {
      if (inflate.destroyed) return;
      if (!inflate.write(chunk))
        await new Promise<void>((resolve) => inflate.once("drain", resolve).once("close", resolve));
    }
    inflate.end();
  })().catch((error: Error) => inflate.destroy(error));
  try {
    yield* inflate as AsyncIterable<Buffer>;
  } finally {
    inflate.destroy();
    await feed;
  }
}

/** Most local headers are as long as the one in the directory, so one read suffices; a longer one takes a second. */
function guessBytes(entry: ZipEntry): number {
  return localHeaderBytes + entry.nameBytes + 64 + entry.packedSize;
}

function dataStart(header: Buffer, entry: ZipEntry): number {
  if (header.length < localHeaderBytes || header.readUInt32LE(0) !== 0x04034b50)
    throw invalid("its header is not where the directory says", entry.path);
  return localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
}

function checked(plain: Buffer, entry: ZipEntry): Buffer {
  if (plain.length !== entry.size) throw invalid("its size differs from what the archive says", entry.path);
  if (crc32(plain) !== entry.crc32) throw invalid("its checksum does not match", entry.path);
  return plain;
}

function explained(error: unknown, entry: ZipEntry): unknown {
  const code = errnoOf(error) ?? "";
  if (code === "ERR_BUFFER_TOO_LARGE") return invalid("it is larger than the archive says", entry.path);
  return /^Z_/.test(code) ? invalid((error as Error).message, entry.path) : error;
}

async function readUpTo(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let have = 0;
  while (have < length) {
    const { bytesRead } = await file.read(buffer, have, length - have, at + have);
    if (bytesRead === 0) break;
    have += bytesRead;
  }
  return buffer.subarray(0, have);
}
