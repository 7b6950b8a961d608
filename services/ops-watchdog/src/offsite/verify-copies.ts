// Opens some copies to their last byte, so that a bucket that rots is noticed before it is needed
// (docs/reference/off-site.md#verification).

import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { plainSize, sealedSize } from "@svc/sealed";
import { sidecarOf } from "../bundle/verify.ts";
import type { ImagePart } from "./builds-store.ts";
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
import type { WalPath } from "./wal-key.ts";

export type Verified = {
  checked: string[];
  damaged: { key: string; problem: string; repaired: boolean }[];
  /** The store did not answer for them; they may be intact. */
  unread: { key: string; problem: string }[];
};

/** Copies in a row that the store did not answer for; the next one would not be read either. */
const mostUnread = 3;

/** The newest bundle and `sample` of each other kind; everything without `sample`. */
export async function verifyCopies(deps: VerifyDeps, sample: number | undefined): Promise<Verified> {
  const { bucket, signal } = deps;
  const result: Verified = { checked: [], damaged: [], unread: [] };
  const listing = await listBucket(bucket, signal);
  const keys = [...listing.keys()];
  const bundles = keys.filter((key) => bundleOfKey(key)).sort();
  const { archives } = await deps.archives.list();
  const inBucket = new Set(keys);
  const worlds = archives.filter(
    ({ archive, status }) => status === "present" && inBucket.has(keyOfArchive(archive)),
  );
  const checks: Check[] = [];
  for (const key of sample === undefined ? bundles : bundles.slice(-1))
    checks.push({ key, verify: () => verifyBundleCopy(deps, key) });
  for (const archive of sample === undefined ? worlds : choose(worlds, sample)) {
    checks.push({
      key: keyOfArchive(archive.archive),
      verify: () => verifyArchiveCopy(deps, archive),
      repair: () => sendAnew(deps, archive),
    });
  }
  const choosePacked = (from: readonly string[]) => (sample === undefined ? from : choose(from, sample));
  checks.push(...(await checksOfPacked(deps, { listing, archives, choose: choosePacked })));
  const chooseSome = sample === undefined ? undefined : (from: readonly WalPath[]) => choose(from, sample);
  checks.push(...checksOfWal(deps, keys, chooseSome));
  checks.push(...(await checksOfIndexed(deps, { keys, sample })));
  let inARow = 0;
  for (const one of checks) {
    deps.step("verify");
    const unread = await check(result, one);
    inARow = unread === undefined ? 0 : inARow + 1;
    if (unread !== undefined && inARow >= Math.min(mostUnread, checks.length)) throw unread;
  }
  return result;
}

/** The newest list of images and of uploads, and what is in the bucket by its digest. */
async function checksOfIndexed(
  deps: VerifyDeps,
  { keys, sample }: { keys: readonly string[]; sample: number | undefined },
): Promise<Check[]> {
  const sources = createSources(deps);
  return indexFolders.flatMap((folder) => {
    const indexes = indexesIn(folder, keys);
    const parts = keys.filter((key) => partOfKey(key)?.folder === folder);
    return [
      ...(sample === undefined ? indexes : indexes.slice(0, 1)).map((key) => ({
        key,
        verify: async () => void (await readIndex(deps, folder, key)),
      })),
      ...(sample === undefined ? parts : choose(parts, sample)).map((key) => ({
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

function choose<T>(from: readonly T[], count: number): T[] {
  const left = [...from];
  const chosen: T[] = [];
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(randomInt(left.length), 1));
  return chosen;
}
