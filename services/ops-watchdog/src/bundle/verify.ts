// Reads a whole bundle and compares it with its manifest and its sidecar. Whatever differs is a sentence.

import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { Manifest, type MemberEntry, manifestMember } from "./manifest.ts";
import { blockSize, decodeHeader, paddingOf } from "./tar.ts";

const chunkBytes = 262_144;
const largestManifest = 16_777_216;

/** The bundle cannot be used, and why. */
export class DamagedBundleError extends Error {
  override name = "DamagedBundleError";
}

export type Verified = { manifest: Manifest; sizeBytes: number; sha256: string };

/**
 * Throws `DamagedBundleError` when anything is missing, more, or other than the manifest says. `rows` also unpacks every
 * table and counts its rows; `sidecar` compares the file with the digest beside it.
 */
export async function verifyBundle(
  path: string,
  { rows, sidecar }: { rows: boolean; sidecar: boolean },
): Promise<Verified> {
  const file = await open(path, "r");
  try {
    const whole = createHash("sha256");
    const reader = readFrom(file, whole);
    const manifest = await readManifestFrom(reader);
    const expected = new Map(
      manifest.schemas.flatMap(({ tables }) => tables.map((one) => [one.member, one.rows])),
    );
    for (const member of manifest.members) {
      await verifyMember(reader, member, rows ? expected.get(member.name) : undefined);
      expected.delete(member.name);
    }
    const [lacking] = expected.keys();
    if (lacking !== undefined) throw new DamagedBundleError(`${lacking} is missing`);
    await verifyEnd(reader);
    const sha256 = whole.digest("hex");
    if (sidecar && sha256 !== (await readSidecar(path)))
      throw new DamagedBundleError("the digest is not that of its .sha256 file");
    return { manifest, sizeBytes: reader.position(), sha256 };
  } finally {
    await file.close();
  }
}

/** The manifest alone, for lists. */
export async function readManifest(path: string): Promise<Manifest> {
  const file = await open(path, "r");
  try {
    return await readManifestFrom(readFrom(file, createHash("sha256")));
  } finally {
    await file.close();
  }
}

type Reader = {
  /** Exactly so many bytes; throws when the file is shorter. */
  take: (size: number) => Promise<Buffer>;
  /** The same in pieces. */
  pieces: (size: number) => AsyncGenerator<Buffer>;
  position: () => number;
  isAtEnd: () => Promise<boolean>;
};

function readFrom(file: FileHandle, whole: Hash): Reader {
  let at = 0;
  const take = async (size: number) => {
    const buffer = Buffer.allocUnsafe(size);
    let done = 0;
    while (done < size) {
      const { bytesRead } = await file.read(buffer, done, size - done, at + done);
      if (bytesRead === 0) throw new DamagedBundleError(`the file is cut off after ${at + done} bytes`);
      done += bytesRead;
    }
    at += size;
    whole.update(buffer);
    return buffer;
  };
  return {
    take,
    pieces: async function* (size) {
      for (let left = size; left > 0; left -= Math.min(left, chunkBytes))
        yield await take(Math.min(left, chunkBytes));
    },
    position: () => at,
    isAtEnd: async () => (await file.read(Buffer.alloc(1), 0, 1, at)).bytesRead === 0,
  };
}

export async function readManifestFrom(reader: Pick<Reader, "take">): Promise<Manifest> {
  const header = await headerOf(reader);
  if (header.name !== manifestMember)
    throw new DamagedBundleError(`it does not begin with ${manifestMember}`);
  if (header.size > largestManifest) throw new DamagedBundleError("the size of its manifest is damaged");
  const text = (await reader.take(header.size)).toString("utf8");
  await skipPadding(reader, header.size);
  try {
    return Manifest.parse(JSON.parse(text));
  } catch {
    throw new DamagedBundleError("its manifest cannot be read");
  }
}

async function headerOf(reader: Pick<Reader, "take">): Promise<{ name: string; size: number }> {
  const block = await reader.take(blockSize);
  try {
    const header = decodeHeader(block);
    if (header) return header;
  } catch (error) {
    throw new DamagedBundleError((error as Error).message);
  }
  throw new DamagedBundleError("it ends before its last member");
}

async function skipPadding(reader: Pick<Reader, "take">, size: number): Promise<void> {
  const padding = await reader.take(paddingOf(size));
  if (padding.some((byte) => byte !== 0)) throw new DamagedBundleError("bytes between members are damaged");
}

async function verifyMember(reader: Reader, member: MemberEntry, rows: number | undefined): Promise<void> {
  const header = await headerOf(reader);
  if (header.name !== member.name || header.size !== member.size)
    throw new DamagedBundleError(`${member.name} is not where the manifest says, or has another size`);
  const hash = createHash("sha256");
  const bytes = hashed(reader.pieces(member.size), hash);
  const found = rows === undefined ? await drain(bytes) : await countRows(bytes, member.name);
  if (hash.digest("hex") !== member.sha256) throw new DamagedBundleError(`${member.name} has another digest`);
  if (rows !== undefined && found !== rows)
    throw new DamagedBundleError(`${member.name} has ${found} rows, the manifest says ${rows}`);
  await skipPadding(reader, member.size);
}

async function* hashed(source: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
}

async function drain(source: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const chunk of source) bytes += chunk.length;
  return bytes;
}

/** A row is a line: COPY escapes line ends inside of values. */
async function countRows(source: AsyncIterable<Buffer>, name: string): Promise<number> {
  let lines = 0;
  let last = 0x0a;
  for await (const chunk of unpacked(source, name)) {
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
    last = chunk.at(-1) ?? last;
  }
  if (last !== 0x0a) throw new DamagedBundleError(`${name} ends in the middle of a row`);
  return lines;
}

/** Unpacks a member; a source that fails, or packed bytes that are damaged, fail the reader. */
export async function* unpacked(source: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const unpack = createZstdDecompress();
  const input = Readable.from(source, { objectMode: false });
  pipeline(input, unpack, () => undefined);
  try {
    for await (const chunk of unpack) yield chunk as Buffer;
  } catch (error) {
    if (error instanceof DamagedBundleError) throw error;
    throw new DamagedBundleError(`${name} cannot be unpacked: ${(error as Error).message}`);
  }
}

async function verifyEnd(reader: Reader): Promise<void> {
  const end = await reader.take(2 * blockSize);
  if (end.some((byte) => byte !== 0))
    throw new DamagedBundleError("it has members that its manifest does not name");
  if (!(await reader.isAtEnd())) throw new DamagedBundleError("it is longer than its last member");
}

export function sidecarOf(path: string): string {
  return `${path}.sha256`;
}

async function readSidecar(path: string): Promise<string | undefined> {
  const text = await readFile(sidecarOf(path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new DamagedBundleError("its .sha256 file is missing");
    throw error;
  });
  return /^([0-9a-f]{64}) [ *]\S+\n?$/.exec(text)?.[1];
}
