// The chunks that a new archive need not write again: those of the newest archive of the same server.

import { isWorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import type { ChunkList } from "./chunk-list.ts";
import { type Manifest, type PackFile, readManifest } from "./manifest.ts";
import { parseStoreName, startedAt } from "./names.ts";

/** A pack of which the newest archive needs less than this is not referred to again, so that it can go at some time. */
const leastUsedShare = 0.25;

export type KnownChunk = { pack: PackFile; at: number; length: number };
export type KnownChunks = {
  /** False when nothing is known at all: no archive of this server is there. */
  hasAny: boolean;
  find: (digest: Buffer) => KnownChunk | undefined;
};

export const noneKnown: KnownChunks = { hasAny: false, find: () => undefined };

/** Reads after the lease is there: a pack that is retired later stays until the lease is gone. */
export async function findKnownChunks(folder: Folder, server: string): Promise<KnownChunks> {
  const names = (await folder.list()).flatMap(({ name }) => parseStoreName(name) ?? []);
  const ours = names.filter((one) => one.server === server);
  const retired = new Set(ours.flatMap((one) => (one.kind === "retired" ? [one.pack] : [])));
  const archives = ours.flatMap((one) => (one.kind === "manifest" ? [one.archive] : []));
  archives.sort((one, other) => (startedAt(one) < startedAt(other) ? 1 : -1));
  for (const archive of archives) {
    const manifest = await readManifest(folder, archive).catch((error: unknown) => {
      if (isWorldFault(error, "not_found", "backup_corrupt")) return undefined;
      throw error;
    });
    if (manifest) return await usableOf(folder, manifest, retired);
  }
  return noneKnown;
}

async function usableOf(
  folder: Folder,
  manifest: Manifest,
  retired: ReadonlySet<string>,
): Promise<KnownChunks> {
  const { chunks, packs } = manifest;
  const used = usedBytes(chunks, packs.length);
  const usable = new Map<number, PackFile>();
  for (const [index, pack] of packs.entries()) {
    const isDense = (used[index] ?? 0) >= leastUsedShare * pack.size;
    if (retired.has(pack.name) || !isDense) continue;
    if ((await folder.find(pack.name))?.size === pack.size) usable.set(index, pack);
  }
  return {
    hasAny: usable.size > 0,
    find: (digest) => {
      const index = chunks.find(digest);
      if (index === undefined) return undefined;
      const { pack, at, length } = chunks.placeOf(index);
      const file = usable.get(pack);
      return file && { pack: file, at, length };
    },
  };
}

/** Bytes of each pack that an archive needs; a chunk that it has twice counts once. */
function usedBytes(chunks: ChunkList, packs: number): number[] {
  const used = Array.from({ length: packs }, () => 0);
  for (let index = 0; index < chunks.count; index += 1) {
    if (chunks.find(chunks.digestOf(index)) !== index) continue;
    const { pack, length } = chunks.placeOf(index);
    used[pack] = (used[pack] ?? 0) + length;
  }
  return used;
}
