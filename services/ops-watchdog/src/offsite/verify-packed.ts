// Copies in packs, opened: a pack that is damaged damages every archive that names it, so packs are what is opened
// (docs/reference/off-site.md#verification).

import { plainSize } from "@svc/sealed";
import type { Choice } from "./choose-copies.ts";
import type { Listing } from "./listing.ts";
import { encodeObject, readObject } from "./manifest-object.ts";
import { keyOfManifest, manifestOfKey, packListObject, packOfKey } from "./object-key.ts";
import { decodeList, readList } from "./pack-list.ts";
import { readPacked } from "./packed.ts";
import type { Packed, PackedCopy } from "./packed-copies.ts";
import type { Archive } from "./plan-archives.ts";
import { openReceived, releaseChunks } from "./release-chunks.ts";
import { send } from "./send.ts";
import { digestOf, once, readLocal } from "./send-packed.ts";
import { verified } from "./source.ts";
import type { Check, VerifyDeps } from "./verify-context.ts";

/** The list, and what is chosen of manifests and of packs. */
export async function checksOfPacked(
  deps: VerifyDeps,
  { listing, archives, choice }: { listing: Listing; archives: readonly Archive[]; choice: Choice },
): Promise<Check[]> {
  const keys = [...listing.keys()];
  // A manifest that cannot be read is found when it is opened.
  const attempt = (_: string, work: () => Promise<void>) =>
    work().then(
      () => true,
      () => false,
    );
  const packed = await readPacked({ ...deps, listing, attempt });
  const here = new Map(
    archives.flatMap((archive) => (isHere(archive) ? [[keyOfManifest(archive.archive), archive]] : [])),
  );
  const about = { packed, here };
  return [
    ...keys.filter((key) => key === packListObject).map((key) => ({ key, verify: () => verifyList(deps) })),
    ...choice.some(keys.filter((key) => manifestOfKey(key))).map((key) => ({
      key,
      verify: async () => void (await readObject(deps, key)),
      repair: () => sendManifestAnew(deps, about, key),
    })),
    ...choice.some(keys.filter((key) => packOfKey(key))).map((key) => ({
      key,
      verify: () => verifyPack(deps, packed, key),
      repair: () => sendPackAnew(deps, about, key),
    })),
  ];
}

const isHere = ({ status, local, is_deduplicated: isInPacks = false, is_corrupt }: Archive) =>
  status === "present" && local === "whole" && isInPacks && !is_corrupt;

async function verifyList(deps: VerifyDeps): Promise<void> {
  const encoded = await readList(deps);
  if (encoded !== undefined) decodeList(encoded);
}

/** Against what the manifests say of it; one that nothing names is opened. */
async function verifyPack(
  { bucket, ring, signal }: VerifyDeps,
  { digests }: Packed,
  key: string,
): Promise<void> {
  const found = await bucket.get(key, { signal });
  // Deleted since it was listed.
  if (!found) return;
  const pack = digests.get(packOfKey(key)?.name ?? "");
  if (pack === null) throw new Error("two manifests contradict one another on what it is");
  const plain = openReceived(found.bytes, ring);
  const sizeBytes = plainSize(found.head.sizeBytes) ?? -1;
  const compared = pack ? verified(plain, { sizeBytes: pack.sizeBytes, sha256: pack.sha256 }) : plain;
  if (sizeBytes < 0) throw new Error("it is not of the size of a sealed object");
  for await (const _ of releaseChunks(compared));
}

type About = { packed: Packed; here: ReadonlyMap<string, Archive> };

/** True when a good one is there again: the pack here must have the digest that the manifests name. */
async function sendPackAnew(deps: VerifyDeps, { packed, here }: About, key: string): Promise<boolean> {
  const name = packOfKey(key)?.name ?? "";
  const pack = packed.digests.get(name);
  if (!deps.mayRepair || !pack) return false;
  for (const [manifest, { id }] of here) {
    if (!packed.copies.get(manifest)?.packs.some((one) => one.name === name)) continue;
    await send(deps, { key, ...pack, open: () => deps.archives.openChunks(id, name) });
    return true;
  }
  return false;
}

async function sendManifestAnew(deps: VerifyDeps, { packed, here }: About, key: string): Promise<boolean> {
  const [archive, copy] = [here.get(key), packed.copies.get(key)];
  if (!deps.mayRepair || !archive || !copy) return false;
  const { bytes, manifest } = await readLocal(deps, archive);
  if (!areSame(copy, manifest.packs)) return false;
  const plain = encodeObject(copy, bytes);
  await send(deps, { key, ...digestOf(plain), open: () => once(plain) });
  return true;
}

const areSame = ({ packs }: PackedCopy, local: readonly { name: string; size: number }[]) =>
  packs.length === local.length &&
  packs.every(({ name, sizeBytes }, at) => local[at]?.name === name && local[at]?.size === sizeBytes);
