// Opens some copies to their last byte, so that a bucket that rots is noticed before it is needed
// (docs/reference/off-site.md#verification).

import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ObjectStore } from "@svc/object-store";
import { type KeyRing, open, plainSize, sealedSize } from "@svc/sealed";
import { sidecarOf } from "../bundle/verify.ts";
import type { ArchiveStore } from "./archive-store.ts";
import { readCopiedManifest } from "./fetch-db.ts";
import { bundleOfKey, keyOfArchive } from "./object-key.ts";
import type { Archive } from "./plan-archives.ts";
import { isOfOneObject, send } from "./send.ts";
import { verified } from "./source.ts";

export type VerifyDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  archives: ArchiveStore;
  bundleDir: string;
  signal: AbortSignal;
  /** Whether this host may send a damaged copy again. */
  mayRepair: boolean;
};

export type Verified = {
  checked: string[];
  damaged: { key: string; problem: string; repaired: boolean }[];
};

/** The newest bundle and `sample` archives; all of both without `sample`. */
export async function verifyCopies(deps: VerifyDeps, sample: number | undefined): Promise<Verified> {
  const { bucket, signal } = deps;
  const result: Verified = { checked: [], damaged: [] };
  const keys: string[] = [];
  for await (const { key } of bucket.list("", { signal })) keys.push(key);
  const bundles = keys.filter((key) => bundleOfKey(key)).sort();
  const { archives } = await deps.archives.list();
  const inBucket = new Set(keys);
  const worlds = archives.filter(
    ({ archive, status }) => status === "present" && inBucket.has(keyOfArchive(archive)),
  );
  for (const key of sample === undefined ? bundles : bundles.slice(-1))
    await check(result, { key, verify: () => verifyBundleCopy(deps, key) });
  for (const archive of sample === undefined ? worlds : choose(worlds, sample)) {
    await check(result, {
      key: keyOfArchive(archive.archive),
      verify: () => verifyArchiveCopy(deps, archive),
      repair: () => sendAnew(deps, archive),
    });
  }
  return result;
}

type Check = { key: string; verify: () => Promise<void>; repair?: () => Promise<boolean> };

async function check(result: Verified, { key, verify, repair }: Check): Promise<void> {
  result.checked.push(key);
  try {
    await verify();
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    const repaired = (await repair?.().catch(() => false)) ?? false;
    result.damaged.push({ key, problem: (error as Error).message, repaired });
  }
}

async function verifyBundleCopy({ bucket, ring, bundleDir, signal }: VerifyDeps, key: string): Promise<void> {
  const name = bundleOfKey(key)?.name ?? "";
  await readCopiedManifest({ bucket, ring, signal }, name);
  const sidecar = await readFile(sidecarOf(join(bundleDir, name)), "utf8").catch(() => undefined);
  const found = await bucket.get(key, { signal });
  if (!found) return;
  const plain = open(found.bytes, ring);
  if (sidecar === undefined) {
    for await (const _ of plain);
    return;
  }
  const sizeBytes = plainSize(found.head.sizeBytes) ?? -1;
  for await (const _ of verified(plain, { sizeBytes, sha256: sidecar.slice(0, 64) }));
}

async function verifyArchiveCopy(
  { bucket, ring, signal }: VerifyDeps,
  { archive, size_bytes: sizeBytes, sha256 }: Archive,
): Promise<void> {
  const found = await bucket.get(keyOfArchive(archive), { sizeBytes: sealedSize(sizeBytes), signal });
  if (!found) throw new Error("it is not in the bucket any more");
  for await (const _ of verified(open(found.bytes, ring), { sizeBytes, sha256 }));
}

/** True when a good copy is there again. */
async function sendAnew(deps: VerifyDeps, archive: Archive): Promise<boolean> {
  const { id, size_bytes: sizeBytes, sha256, local, is_corrupt } = archive;
  if (!deps.mayRepair || local !== "whole" || is_corrupt) return false;
  const key = keyOfArchive(archive.archive);
  await send(deps, { key, sizeBytes, sha256, open: () => deps.archives.open(id) });
  return true;
}

function choose<T>(from: readonly T[], count: number): T[] {
  const left = [...from];
  const chosen: T[] = [];
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(randomInt(left.length), 1));
  return chosen;
}
