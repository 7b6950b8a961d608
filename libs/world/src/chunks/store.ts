// Stores the archive of a world deduplicated: chunks that the newest archive of the server has are not written again. An
// archive is there when its manifest is, and that comes last: all packs are synced and the whole archive was read back, from
// them, before. The partial of the manifest is the lease: it is there before the first look at what is known and until the
// manifest takes its place, and a run whose lease was taken away cannot finish
// (docs/reference/backups.md#deduplicated).

import { forwardingFilter } from "../archive/forwarding-filter.ts";
import {
  asStoreFailure,
  assertRoomInStore,
  readBackFrom,
  type StorePlan,
  sweepPartials,
} from "../archive/store.ts";
import { measure } from "../archive/walk.ts";
import { type Written, writeArchive } from "../archive/write.ts";
import { releaseConsumed } from "../buffer-release.ts";
import { isWorldFault } from "../fault.ts";
import { writeAll } from "../path/write-all.ts";
import { openChunks, readChunks } from "./chunk-file.ts";
import { findKnownChunks, type KnownChunks, noneKnown } from "./known-chunks.ts";
import { encodeManifest, type Manifest } from "./manifest.ts";
import { manifestNameOf, newLeaseName, serverOf } from "./names.ts";
import { createPackWriter, type PackWriter } from "./pack-writer.ts";

/** Where files are cut: measured in docs/adr/0036-backups-store-content-once.md. */
const pieces = { bytes: 128 << 10, smallBytes: 8 << 10 };

type Deduplicated = Written & {
  /** Of the archive's bytes, what was not in the store before. */
  addedBytes: number;
  /** What is damaged of earlier archives of the server: all of this one was written anew. */
  damage?: string;
};

/** As `storeArchive`. A chunk that an earlier archive has and that is damaged is written again. */
export async function storeDeduplicated(plan: StorePlan): Promise<Deduplicated> {
  const { store, name } = plan;
  await sweepPartials(store, name);
  for (const taken of [name, manifestNameOf(name)])
    if (await store.find(taken)) throw new Error(`the archive ${name} already exists`);
  const total = (await measure(plan.world, plan)).allocated;
  await assertRoomInStore(plan, 0);
  const leaseName = newLeaseName(name);
  await using lease = await store.createFile(leaseName, 0o640).catch((error: unknown) => {
    throw asStoreFailure(error);
  });
  try {
    await lease.sync();
    await store.sync();
    return await writeUnderLease({ plan, lease, leaseName, total });
  } catch (error) {
    await store.removeFile(leaseName).catch(() => undefined);
    throw asStoreFailure(error);
  }
}

async function writeUnderLease(about: Omit<Attempt, "known">): Promise<Deduplicated> {
  const { store, name } = about.plan;
  const known = await findKnownChunks(store, serverOf(name));
  try {
    return await writeAndPublish({ ...about, known });
  } catch (error) {
    if (!known.hasAny || !isWorldFault(error, "backup_corrupt")) throw error;
    const written = await writeAndPublish({ ...about, known: noneKnown });
    return { ...written, damage: error.message };
  }
}

type Lease = { sync: () => Promise<void> } & Parameters<typeof writeAll>[0];
type Attempt = {
  plan: StorePlan;
  lease: Lease;
  leaseName: string;
  known: KnownChunks;
  total: number;
};

async function writeAndPublish(attempt: Attempt): Promise<Deduplicated> {
  const { plan, lease, leaseName, known } = attempt;
  const { store, name } = plan;
  await using packs = createPackWriter({
    folder: store,
    server: serverOf(name),
    known,
    assertRoom: (bytes) => assertRoomInStore(plan, bytes),
  });
  try {
    const written = await writeChunks(attempt, packs);
    const { writtenBytes, ...packed } = await packs.finish();
    const { sizeBytes: size, sha256 } = written;
    const manifest: Manifest = { archive: name, size, sha256, packs: packed.packs, chunks: packed.chunks };
    await readBack(plan, manifest, written);
    const bytes = encodeManifest(manifest);
    await assertRoomInStore(plan, bytes.length);
    await writeAll(lease, bytes);
    await lease.sync();
    // The packs have their names for good before the manifest that names them.
    await store.sync();
    await store.move(leaseName, { name: manifestNameOf(name) });
    await store.sync();
    return { ...written, addedBytes: writtenBytes + bytes.length };
  } catch (error) {
    await removeUnpublished(plan, packs);
    throw error;
  }
}

async function writeChunks({ plan, total, known }: Attempt, packs: PackWriter): Promise<Written> {
  return await writeArchive(plan.world, {
    compression: "zstd",
    pieces: { ...pieces, ...(known.hasAny && { isStored: packs.isKnown }) },
    fileDigests: plan.fileDigests,
    filter: await forwardingFilter(plan.world),
    signal: plan.signal,
    onProgress: (bytes) => plan.onProgress?.(bytes, 2 * total),
    write: async (chunk) => {
      await packs.add(chunk);
      releaseConsumed(chunk);
    },
  });
}

async function readBack(plan: StorePlan, manifest: Manifest, written: Written): Promise<void> {
  try {
    await using file = openChunks(await plan.store.duplicate(), manifest, { isCompared: true });
    await readBackFrom(plan, file, written);
  } catch (error) {
    if (isWorldFault(error, "backup_corrupt")) await nameDamage(plan, manifest);
    throw error;
  }
}

/** Throws `backup_corrupt` that names a chunk and its pack, if there is a wrong one. */
async function nameDamage(plan: StorePlan, manifest: Manifest): Promise<void> {
  await using file = openChunks(await plan.store.duplicate(), manifest);
  await readChunks(file, plan.signal);
}

/**
 * Packs that no manifest was ever published for: nobody can refer to them. Where it cannot be told whether the manifest has its
 * name, they stay for the sweep.
 */
async function removeUnpublished({ store, name }: StorePlan, packs: PackWriter): Promise<void> {
  const isPublished = await store.find(manifestNameOf(name)).catch(() => true);
  if (isPublished) return;
  for (const pack of packs.made()) await store.removeFile(pack).catch(() => undefined);
}
