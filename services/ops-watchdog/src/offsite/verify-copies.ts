// Opens some copies to their last byte, so that a bucket that rots is noticed before it is needed
// (docs/reference/off-site.md#verification).

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { plainSize, sealedSize } from "@svc/sealed";
import { sidecarOf } from "../bundle/verify.ts";
import type { ImagePart } from "./builds-store.ts";
import { type Choice, chooseCopies, type Selection } from "./choose-copies.ts";
import { readCopiedManifest } from "./fetch-db.ts";
import { hexOf, indexesIn, readIndex } from "./indexes.ts";
import { listBucket } from "./listing.ts";
import { bundleOfKey, type IndexFolder, indexFolders, keyOfArchive, partOfKey } from "./object-key.ts";
import type { Archive } from "./plan-archives.ts";
import { openReceived, releaseChunks } from "./release-chunks.ts";
import { isOfOneObject, isOutOfReach, send } from "./send.ts";
import { verified } from "./source.ts";
import type { Check, VerifyDeps } from "./verify-context.ts";
import { checksOfPacked } from "./verify-packed.ts";
import { checksOfWal } from "./verify-wal.ts";

export type Verified = {
  checked: string[];
  damaged: { key: string; problem: string; repaired: boolean }[];
  /** The store did not answer for them; they may be intact. */
  unread: { key: string; problem: string }[];
};

/** What cannot be used: also what could not be read this time and was damaged when it was. */
export function stillDamaged({ damaged, unread }: Verified, before: readonly string[]): string[] {
  const found = damaged.filter(({ repaired }) => !repaired).map(({ key }) => key);
  return [...found, ...unread.map(({ key }) => key).filter((key) => before.includes(key))];
}

/** Copies in a row that the store did not answer for; the next one would not be read either. */
const mostUnread = 3;

/** The newest bundle and a sample of each other kind; everything without `sample`. */
export async function verifyCopies(deps: VerifyDeps, selection: Selection): Promise<Verified> {
  const { bucket, signal } = deps;
  const result: Verified = { checked: [], damaged: [], unread: [] };
  const listing = await listBucket(bucket, signal);
  const keys = [...listing.keys()];
  const choice = chooseCopies(selection);
  const { archives } = await deps.archives.list();
  const checks: Check[] = [
    ...checksOfBundles(deps, keys, choice),
    ...checksOfArchives(deps, { keys, archives, choice }),
    ...(await checksOfPacked(deps, { listing, archives, choice })),
    ...checksOfWal(deps, keys, choice),
    ...(await checksOfIndexed(deps, { keys, choice })),
  ];
  let inARow = 0;
  for (const one of checks) {
    deps.step("verify");
    const unread = await check(result, one);
    inARow = unread === undefined ? 0 : inARow + 1;
    if (unread !== undefined && inARow >= Math.min(mostUnread, checks.length)) throw unread;
  }
  return result;
}

function checksOfBundles(deps: VerifyDeps, keys: readonly string[], choice: Choice): Check[] {
  const bundles = keys.filter((key) => bundleOfKey(key)).sort();
  const newest = bundles.at(-1);
  return choice
    .only(bundles, (key) => key === newest)
    .map((key) => ({ key, verify: () => verifyBundleCopy(deps, key) }));
}

type OfArchives = { keys: readonly string[]; archives: readonly Archive[]; choice: Choice };

function checksOfArchives(deps: VerifyDeps, { keys, archives, choice }: OfArchives): Check[] {
  const present = archives.filter(({ status }) => status === "present");
  const byKey = new Map(present.map((archive) => [keyOfArchive(archive.archive), archive]));
  return choice.some(keys.filter((key) => byKey.has(key))).flatMap((key) => {
    const archive = byKey.get(key);
    if (!archive) return [];
    return [{ key, verify: () => verifyArchiveCopy(deps, archive), repair: () => sendAnew(deps, archive) }];
  });
}

/** The newest list of images and of uploads, and what is in the bucket by its digest. */
async function checksOfIndexed(
  deps: VerifyDeps,
  { keys, choice }: { keys: readonly string[]; choice: Choice },
): Promise<Check[]> {
  const sources = createSources(deps);
  return indexFolders.flatMap((folder) => {
    const indexes = indexesIn(folder, keys);
    const parts = keys.filter((key) => partOfKey(key)?.folder === folder);
    return [
      ...choice
        .only(indexes, (key) => key === indexes[0])
        .map((key) => ({
          key,
          verify: async () => void (await readIndex(deps, folder, key)),
        })),
      ...choice.some(parts).map((key) => ({
        key,
        verify: () => verifyPart(deps, key),
        repair: () => sendPartAnew(deps, key, sources[folder]),
      })),
    ];
  });
}

type Source = { sizeBytes: number; open: () => AsyncIterable<Uint8Array> };
type Sources = Record<IndexFolder, () => Promise<ReadonlyMap<string, Source>>>;

/** What builds has by digest; asked for when the first damaged copy is found. */
function createSources({ builds }: Pick<VerifyDeps, "builds">): Sources {
  const images = async () => {
    const found = new Map<string, Source>();
    for (const { repository, digest, size_bytes, blobs } of (await builds.images()).images) {
      const add = (part: ImagePart) =>
        found.set(hexOf(part.digest), { sizeBytes: part.size_bytes, open: () => builds.openImagePart(part) });
      add({ repository, kind: "manifest", digest, size_bytes });
      for (const blob of blobs) add({ repository, kind: "blob", ...blob });
    }
    return found;
  };
  const contexts = async () => {
    const here = (await builds.contexts()).filter(({ local }) => local === "whole");
    return new Map(
      here.map(({ id, sha256, size_bytes: sizeBytes }) => {
        return [sha256, { sizeBytes, open: () => builds.openContext(id) }] as const;
      }),
    );
  };
  return { registry: once(images), uploads: once(contexts) };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

async function verifyPart({ bucket, ring, signal }: VerifyDeps, key: string): Promise<void> {
  const found = await bucket.get(key, { signal });
  // Deleted since it was listed.
  if (!found) return;
  const sizeBytes = plainSize(found.head.sizeBytes) ?? -1;
  const sha256 = partOfKey(key)?.sha256 ?? "";
  await readAll(verified(openReceived(found.bytes, ring), { sizeBytes, sha256 }));
}

/** True when a good copy is there again. */
async function sendPartAnew(deps: VerifyDeps, key: string, sources: Sources[IndexFolder]): Promise<boolean> {
  if (!deps.mayRepair) return false;
  const sha256 = partOfKey(key)?.sha256 ?? "";
  const source = (await sources()).get(sha256);
  if (!source) return false;
  await send(deps, { key, sha256, ...source });
  return true;
}

/** Answers the error of a store that did not answer. */
async function check(result: Verified, { key, verify, repair }: Check): Promise<unknown> {
  try {
    await verify();
    result.checked.push(key);
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    if (isOutOfReach(error)) {
      result.unread.push({ key, problem: (error as Error).message });
      return error;
    }
    result.checked.push(key);
    const repaired = (await repair?.().catch(() => false)) ?? false;
    result.damaged.push({ key, problem: (error as Error).message, repaired });
  }
  return undefined;
}

async function verifyBundleCopy({ bucket, ring, bundleDir, signal }: VerifyDeps, key: string): Promise<void> {
  const name = bundleOfKey(key)?.name ?? "";
  await readCopiedManifest({ bucket, ring, signal }, name);
  const sidecar = await readFile(sidecarOf(join(bundleDir, name)), "utf8").catch(() => undefined);
  const found = await bucket.get(key, { signal });
  if (!found) return;
  const plain = openReceived(found.bytes, ring);
  if (sidecar === undefined) return readAll(plain);
  const sizeBytes = plainSize(found.head.sizeBytes) ?? -1;
  await readAll(verified(plain, { sizeBytes, sha256: sidecar.slice(0, 64) }));
}

async function verifyArchiveCopy(
  { bucket, ring, signal }: VerifyDeps,
  { archive, size_bytes: sizeBytes, sha256 }: Archive,
): Promise<void> {
  const found = await bucket.get(keyOfArchive(archive), { sizeBytes: sealedSize(sizeBytes), signal });
  if (!found) throw new Error("it is not in the bucket any more");
  await readAll(verified(openReceived(found.bytes, ring), { sizeBytes, sha256 }));
}

/** True when a good copy is there again. */
async function sendAnew(deps: VerifyDeps, archive: Archive): Promise<boolean> {
  const { id, size_bytes: sizeBytes, sha256, local, is_corrupt } = archive;
  if (!deps.mayRepair || local !== "whole" || is_corrupt) return false;
  const key = keyOfArchive(archive.archive);
  await send(deps, { key, sizeBytes, sha256, open: () => deps.archives.open(id) });
  return true;
}

async function readAll(plain: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of releaseChunks(plain));
}
