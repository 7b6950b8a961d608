// The manifest of a deduplicated archive: a line of JSON, a line with the SHA-256 of that line, an entry for each chunk in
// order (docs/reference/backups.md#deduplicated). The first line has the digest of the entries, so either part can be told
// to be as it was written, and the packs are known from the first lines alone.

import { hash } from "node:crypto";
import { z } from "zod";
import { corrupt } from "../archive/tar-header.ts";
import type { Folder } from "../path/folder.ts";
import { ChunkList, entryBytes } from "./chunk-list.ts";
import { isPackOf, manifestNameOf, serverOf } from "./names.ts";

/** No chunk is longer: a longer piece of an archive is several. */
export const mostChunkBytes = 4 << 20;
const firstReadBytes = 64 << 10;
const mostHeadBytes = 64 << 20;
const digestLineBytes = 65;

const whole = z.number().int().min(0);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const Head = z.strictObject({
  format: z.literal(1),
  archive: z.string(),
  size: whole,
  sha256: digest,
  chunks: whole,
  chunks_sha256: digest,
  packs: z.array(z.strictObject({ name: z.string(), size: whole })),
});

export type PackFile = { name: string; size: number };
type ManifestHead = {
  archive: string;
  /** Of the archive as one file. */
  size: number;
  sha256: string;
  packs: readonly PackFile[];
};
export type Manifest = ManifestHead & { chunks: ChunkList };

export function encodeManifest({ archive, size, sha256, packs, chunks }: Manifest): Buffer {
  const entries = chunks.entries();
  const chunks_sha256 = hash("sha256", entries, "hex");
  const about = { format: 1, archive, size, sha256, chunks: chunks.count, chunks_sha256, packs };
  const line = Buffer.from(`${JSON.stringify(about)}\n`);
  return Buffer.concat([line, Buffer.from(`${hash("sha256", line, "hex")}\n`), entries]);
}

type DecodedHead = { head: z.output<typeof Head>; bytes: number };

/** Throws `backup_corrupt` unless it is the first part of the manifest of this archive as it was written. */
function decodeHead(bytes: Buffer, archive: string): DecodedHead {
  const lineEnd = bytes.indexOf(0x0a) + 1;
  const line = bytes.subarray(0, lineEnd);
  const isWhole =
    lineEnd > 0 &&
    bytes.toString("latin1", lineEnd, lineEnd + digestLineBytes) === `${hash("sha256", line, "hex")}\n`;
  const head = isWhole ? Head.safeParse(parsed(line.toString())).data : undefined;
  if (!head || head.archive !== archive) throw corrupt("its manifest is damaged");
  const server = serverOf(archive);
  if (!head.packs.every(({ name }) => isPackOf(server, name)))
    throw corrupt("its manifest contradicts itself");
  return { head, bytes: lineEnd + digestLineBytes };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Throws `backup_corrupt` for anything but the manifest of this archive as it was written. */
export function decodeManifest(bytes: Buffer, archive: string): Manifest {
  const decoded = decodeHead(bytes, archive);
  const entries = bytes.subarray(decoded.bytes);
  const { size, sha256, packs, chunks: count, chunks_sha256 } = decoded.head;
  if (entries.length !== count * entryBytes || hash("sha256", entries, "hex") !== chunks_sha256)
    throw corrupt("its manifest is damaged");
  const chunks = new ChunkList(entries);
  let sum = 0;
  for (let index = 0; index < count; index += 1) {
    const { pack, at, length } = chunks.placeOf(index);
    sum += length;
    if (length === 0 || length > mostChunkBytes || at + length > (packs[pack]?.size ?? 0))
      throw corrupt("its manifest contradicts itself");
  }
  if (sum !== size) throw corrupt("its manifest contradicts itself");
  return { archive, size, sha256, packs, chunks };
}

/** Throws `not_found` when this archive has none, and `backup_corrupt`. */
export async function readManifest(folder: Folder, archive: string): Promise<Manifest> {
  await using file = await folder.openFile(manifestNameOf(archive));
  return decodeManifest(await file.readFile(), archive);
}

/**
 * The packs of an archive without its chunks, and whether the manifest has the length it should have: cheap, whatever the
 * size of the world. Throws as `readManifest`.
 */
export async function readManifestHead(
  folder: Folder,
  archive: string,
): Promise<ManifestHead & { isCut: boolean }> {
  await using file = await folder.openFile(manifestNameOf(archive));
  const { size: fileBytes } = await file.stat();
  for (let bytes = firstReadBytes; ; bytes *= 4) {
    const start = Buffer.alloc(Math.min(bytes, fileBytes));
    const { bytesRead } = await file.read(start, 0, start.length, 0);
    const lineEnd = start.indexOf(0x0a);
    const isMore = lineEnd < 0 || lineEnd + 1 + digestLineBytes > bytesRead;
    if (isMore && bytesRead < fileBytes && bytes < mostHeadBytes) continue;
    const { head, bytes: headBytes } = decodeHead(start.subarray(0, bytesRead), archive);
    const { size, sha256, packs, chunks } = head;
    return { archive, size, sha256, packs, isCut: headBytes + chunks * entryBytes !== fileBytes };
  }
}
