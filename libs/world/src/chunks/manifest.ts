// The manifest of a deduplicated archive: one line of JSON, an entry for each chunk in order, and the SHA-256 of all of that
// (docs/reference/backups.md#deduplicated). An entry is the SHA-256 of the chunk, then as big-endian uint32 the number of its
// pack, where it begins there, and its length.

import { hash } from "node:crypto";
import { z } from "zod";
import { corrupt } from "../archive/tar-header.ts";
import type { Folder } from "../path/folder.ts";
import { isPackOf, manifestNameOf, serverOf } from "./names.ts";

const digestBytes = 32;
const entryBytes = digestBytes + 12;
/** No chunk is longer: a longer piece of an archive is several. */
export const mostChunkBytes = 4 << 20;

const whole = z.number().int().min(0);
const Head = z.strictObject({
  format: z.literal(1),
  archive: z.string(),
  size: whole,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  chunks: whole,
  packs: z.array(z.strictObject({ name: z.string(), size: whole })),
});

export type PackFile = { name: string; size: number };
/** `sha256` as 32 characters, one for each byte. */
export type Chunk = { sha256: string; pack: number; at: number; length: number };
export type Manifest = {
  archive: string;
  /** Of the archive as one file. */
  size: number;
  sha256: string;
  packs: readonly PackFile[];
  chunks: readonly Chunk[];
};

/** The digest of a chunk as a manifest has it. */
export function digestOfChunk(bytes: Buffer): string {
  return hash("sha256", bytes, "buffer").toString("latin1");
}

export function encodeManifest({ archive, size, sha256, packs, chunks }: Manifest): Buffer {
  const head = Buffer.from(
    `${JSON.stringify({ format: 1, archive, size, sha256, chunks: chunks.length, packs })}\n`,
  );
  const bytes = Buffer.alloc(head.length + chunks.length * entryBytes + digestBytes);
  head.copy(bytes);
  let at = head.length;
  for (const chunk of chunks) {
    bytes.write(chunk.sha256, at, "latin1");
    bytes.writeUInt32BE(chunk.pack, at + digestBytes);
    bytes.writeUInt32BE(chunk.at, at + digestBytes + 4);
    bytes.writeUInt32BE(chunk.length, at + digestBytes + 8);
    at += entryBytes;
  }
  hash("sha256", bytes.subarray(0, at), "buffer").copy(bytes, at);
  return bytes;
}

/** Throws `backup_corrupt` for anything but the manifest of this archive as it was written. */
function decodeManifest(bytes: Buffer, archive: string): Manifest {
  const end = bytes.length - digestBytes;
  const lineEnd = bytes.indexOf(0x0a);
  const isWhole =
    lineEnd > 0 &&
    end > lineEnd &&
    hash("sha256", bytes.subarray(0, end), "buffer").equals(bytes.subarray(end));
  const head = isWhole ? Head.safeParse(parsed(bytes.toString("utf8", 0, lineEnd))).data : undefined;
  if (!head || head.archive !== archive) throw corrupt("its manifest is damaged");
  const chunks: Chunk[] = [];
  for (let at = lineEnd + 1; at + entryBytes <= end; at += entryBytes)
    chunks.push({
      sha256: bytes.toString("latin1", at, at + digestBytes),
      pack: bytes.readUInt32BE(at + digestBytes),
      at: bytes.readUInt32BE(at + digestBytes + 4),
      length: bytes.readUInt32BE(at + digestBytes + 8),
    });
  const { size, sha256, packs } = head;
  const server = serverOf(archive);
  const isSound =
    chunks.length === head.chunks &&
    lineEnd + 1 + chunks.length * entryBytes === end &&
    packs.every(({ name }) => isPackOf(server, name)) &&
    chunks.every(
      ({ pack, at, length }) => at + length <= (packs[pack]?.size ?? 0) && length <= mostChunkBytes,
    ) &&
    chunks.reduce((sum, { length }) => sum + length, 0) === size;
  if (!isSound) throw corrupt("its manifest contradicts itself");
  return { archive, size, sha256, packs, chunks };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Throws `not_found` when this archive has none, and `backup_corrupt`. */
export async function readManifest(folder: Folder, archive: string): Promise<Manifest> {
  await using file = await folder.openFile(manifestNameOf(archive));
  return decodeManifest(await file.readFile(), archive);
}
