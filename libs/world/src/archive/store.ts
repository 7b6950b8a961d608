// Stores the archive of a world in the archive folder: hidden partial, synced, read back whole, renamed. No failure leaves
// a partial, and an existing name always stands for an archive that was read back (docs/reference/backups.md#kinds).

import { statfs } from "node:fs/promises";
import { releaseConsumed } from "../buffer-release.ts";
import { errnoOf, isWorldFault, WorldFault } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import type { Folder } from "../path/folder.ts";
import { writeAll } from "../path/write-all.ts";
import { forwardingFilter } from "./forwarding-filter.ts";
import type { Compression } from "./frame-writer.ts";
import { openArchive } from "./open.ts";
import { verifyArchive } from "./verify.ts";
import { measure } from "./walk.ts";
import { type Written, writeArchive } from "./write.ts";

/** Assumed compression ratio for the check before writing; each write checks the real free space. */
const likelyRatio = 0.7;

export type StorePlan = {
  world: Folder;
  store: Folder;
  name: string;
  /** Share of the archive file system to keep free. */
  keepFree: number;
  /** Keeps the digest of each file, in `.tar.zst` only. */
  fileDigests?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Of the bytes of the world, once while writing and once while reading back. */
  onProgress?: ((done: number, total: number) => void) | undefined;
};

/** Throws `store_full`; no other failure is the caller's. */
export async function storeArchive(plan: StorePlan): Promise<Written> {
  const { store, name } = plan;
  const partial = `.${name}.partial`;
  await sweepPartials(store, name);
  if (await store.find(name)) throw new Error(`the archive ${name} already exists`);
  const measured = await measure(plan.world, plan);
  await assertRoomInStore(plan, measured.allocated * likelyRatio);
  try {
    const written = await writePartial(plan, { partial, total: measured.allocated });
    await readBack(plan, { partial, written });
    await store.move(partial, { name });
    await store.sync();
    return written;
  } catch (error) {
    await store.removeFile(partial).catch(() => undefined);
    throw asStoreFailure(error);
  }
}

/** `store_full` for want of room; a failed read-back is our own failure: nobody relies on this archive yet. */
export function asStoreFailure(error: unknown): unknown {
  if (isWorldFault(error, "volume_full") || errnoOf(error) === "ENOSPC") return storeFull();
  if (isWorldFault(error, "backup_corrupt")) return new Error(`verification failed: ${error.message}`);
  return error;
}

type Partial = { partial: string; total: number };

async function writePartial(plan: StorePlan, { partial, total }: Partial): Promise<Written> {
  // The service that owns the archive folder shares its group, and sends archives to Jobs on other nodes.
  await using file = await plan.store.createFile(partial, 0o640);
  const compression: Compression = plan.name.endsWith(".gz") ? "gzip" : "zstd";
  const written = await writeArchive(plan.world, {
    compression,
    fileDigests: plan.fileDigests,
    filter: await forwardingFilter(plan.world),
    signal: plan.signal,
    onProgress: (bytes) => plan.onProgress?.(bytes, 2 * total),
    write: async (chunk) => {
      await assertRoomInStore(plan, chunk.length);
      await writeAll(file, chunk);
      releaseConsumed(chunk);
    },
  });
  await file.sync();
  return written;
}

async function readBack(
  plan: StorePlan,
  { partial, written }: { partial: string; written: Written },
): Promise<void> {
  await using file = await plan.store.openFile(partial);
  await readBackFrom(plan, file, written);
}

/** Reads an archive whole before it gets its name. Throws `backup_corrupt`, and when it is not what was written. */
export async function readBackFrom(plan: StorePlan, file: ArchiveFile, written: Written): Promise<void> {
  const archive = await openArchive(file);
  const verified = await verifyArchive(archive, {
    sha256: written.sha256,
    signal: plan.signal,
    onProgress: (bytes) =>
      plan.onProgress?.(
        written.stored + Math.round((written.stored * bytes) / written.sizeBytes),
        2 * written.stored,
      ),
  });
  if (verified.entries !== written.entries || verified.bytes !== written.bytes)
    throw new Error("the entries read back differ from those written");
  if (plan.name.endsWith(".zst") && !archive.seek) throw new Error("the read-back found no index");
}

/** Throws `store_full` unless this many bytes fit without using the share that is kept free. */
export async function assertRoomInStore(
  { store, keepFree }: Pick<StorePlan, "store" | "keepFree">,
  need: number,
): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(store.path);
  if (bavail * bsize - need >= blocks * bsize * keepFree) return;
  throw storeFull({
    need: Math.ceil(need),
    avail: Math.max(0, Math.floor((bavail - blocks * keepFree) * bsize)),
  });
}

function storeFull(about: { need?: number; avail?: number } = {}): WorldFault {
  return new WorldFault("store_full", "The archive file system has no space for this backup.", about);
}

/** Removes partials of killed backups of the same server; the lock of the world rules out a running one. */
export async function sweepPartials(store: Folder, name: string): Promise<void> {
  const server = name.replace(/-\d+\.tar\.(zst|gz)$/, "");
  const isPartial = (entry: string) =>
    entry.startsWith(`.${server}-`) &&
    /^-\d+\.tar\.(zst|gz)(\.[0-9a-f]{16}\.chunks)?\.partial$/.test(entry.slice(server.length + 1));
  for (const entry of await store.list()) if (isPartial(entry.name)) await store.removeFile(entry.name);
}
