// The chunks that a new archive need not write again: those of the newest archive of the same server.

import { isWorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { type Chunk, type Manifest, type PackFile, readManifest } from "./manifest.ts";
import { parseStoreName, startedAt } from "./names.ts";

/** A pack of which the newest archive needs less than this is not referred to again, so that it can go at some time. */
const leastUsedShare = 0.25;

export type KnownChunk = { pack: PackFile; at: number; length: number };

/** Reads after the lease is there: a pack that is retired later stays until the lease is gone. */
export async function findKnownChunks(folder: Folder, server: string): Promise<Map<string, KnownChunk>> {
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
  return new Map();
}

async function usableOf(folder: Folder, manifest: Manifest, retired: ReadonlySet<string>) {
  const used = usedBytes(manifest.chunks);
  const usable = new Map<number, PackFile>();
  for (const [index, pack] of manifest.packs.entries()) {
    const isDense = (used.get(index) ?? 0) >= leastUsedShare * pack.size;
    if (retired.has(pack.name) || !isDense) continue;
    if ((await folder.find(pack.name))?.size === pack.size) usable.set(index, pack);
  }
  const known = new Map<string, KnownChunk>();
  for (const { sha256, pack, at, length } of manifest.chunks) {
    const found = usable.get(pack);
    if (found) known.set(sha256, { pack: found, at, length });
  }
  return known;
}

/** Bytes of each pack that an archive needs; a chunk that it has twice counts once. */
function usedBytes(chunks: readonly Chunk[]): Map<number, number> {
  const seen = new Set<string>();
  const used = new Map<number, number>();
  for (const { sha256, pack, length } of chunks) {
    if (seen.has(sha256)) continue;
    seen.add(sha256);
    used.set(pack, (used.get(pack) ?? 0) + length);
  }
  return used;
}
