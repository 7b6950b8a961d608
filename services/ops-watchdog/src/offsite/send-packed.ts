// Copies a deduplicated archive as packs, each once, and its manifest last (docs/reference/off-site.md#packs). What makes the copy
// count: every chunk of the archive was read here and compared, each pack in the bucket was sent under the digest that it has here,
// the bucket lists all of them after it has the manifest, and this host was the writer after that. Another writer that deletes what
// no manifest names has therefore listed this one.

import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { sealedSize } from "@svc/sealed";
import { decodeManifest, type Manifest } from "@svc/world/chunks";
import { listBucket } from "./listing.ts";
import { encodeObject } from "./manifest-object.ts";
import { archiveOfKey, keyOfArchive, keyOfManifest, keyOfPack, packsOfServer } from "./object-key.ts";
import { comparePack, inOrderOfPacks } from "./pack-chunks.ts";
import { writePacked } from "./packed.ts";
import { isSamePack, isStored, type PackCopy } from "./packed-copies.ts";
import type { Pass } from "./pass-context.ts";
import type { Archive } from "./plan-archives.ts";
import { releaseChunks } from "./release-chunks.ts";
import { send } from "./send.ts";
import { type Digest, WrongBytesError } from "./source.ts";

/** Packs that are sent again when nobody remembers what was sent under their names; more than that is written down before. */
const forgettableBytes = 64 << 20;

/** False where a pack of the bucket has another digest than the one here: then a whole copy is the only one to rely on. */
export async function sendPacked(
  pass: Pass,
  archive: Archive,
  onProgress: (sentBytes: number) => void,
): Promise<boolean> {
  const { packed, listing } = pass;
  const { bytes, manifest } = await readLocal(pass, archive);
  const packs = await comparePacks(pass, archive, manifest);
  const isOther = (pack: PackCopy) => {
    const known = packed.digests.get(pack.name);
    return known !== undefined && (known === null || !isSamePack(known, pack));
  };
  if (packs.some(isOther)) return false;
  const missing = packs.filter((pack) => !isStored(pack, listing) || !packed.digests.has(pack.name));
  await rememberDigests(pass, missing);
  let sent = 0;
  for (const pack of missing) {
    pass.step("pack");
    sent += await sendPack(pass, { id: archive.id, pack, onProgress: (now) => onProgress(sent + now) });
    packed.digests.set(pack.name, pack);
    pass.step("packed");
  }
  await sendManifest(pass, { archive, packs, manifest: bytes });
  pass.step("manifest");
  await assertListed(pass, archive, packs);
  await pass.claim.assertHeld();
  return true;
}

type Local = { bytes: Buffer; manifest: Manifest };

export async function readLocal({ archives }: Pick<Pass, "archives">, archive: Archive): Promise<Local> {
  const parts: Uint8Array[] = [];
  for await (const part of archives.openChunks(archive.id)) parts.push(part);
  const bytes = Buffer.concat(parts);
  const manifest = decodeManifest(bytes, archive.archive);
  if (manifest.size !== archive.size_bytes || manifest.sha256 !== archive.sha256)
    throw new WrongBytesError("its manifest is of other bytes than the recorded ones");
  return { bytes, manifest };
}

async function comparePacks(
  { archives }: Pick<Pass, "archives">,
  { id }: Archive,
  manifest: Manifest,
): Promise<PackCopy[]> {
  const order = inOrderOfPacks(manifest);
  const packs: PackCopy[] = [];
  for (const [pack, { name }] of manifest.packs.entries())
    packs.push(await comparePack(releaseChunks(archives.openChunks(id, name)), { manifest, order, pack }));
  return packs;
}

/** So that a process that is killed need not send all of them again: only what was sent under a known digest counts. */
async function rememberDigests(pass: Pass, missing: readonly PackCopy[]): Promise<void> {
  const { packed, listing } = pass;
  if (missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) < forgettableBytes) return;
  // What is listed under an unknown digest is not what is about to be sent.
  const absent = missing.filter((pack) => !isStored(pack, listing));
  for (const pack of absent) {
    packed.digests.set(pack.name, pack);
    packed.planned.add(pack.name);
  }
  await writePacked(pass);
}

type Outgoing = { id: string; pack: PackCopy; onProgress?: (sentBytes: number) => void };

async function sendPack(pass: Pass, { id, pack, onProgress }: Outgoing): Promise<number> {
  const key = keyOfPack(pack.name);
  const sent = await send(pass, {
    key,
    ...pack,
    open: () => pass.archives.openChunks(id, pack.name),
    ...(onProgress && { onProgress }),
  });
  pass.report.sent += 1;
  pass.report.sent_bytes += sent;
  pass.listing.added(key, sent);
  return sent;
}

type Made = { archive: Archive; packs: readonly PackCopy[]; manifest: Buffer };

async function sendManifest(pass: Pass, { archive, packs, manifest }: Made): Promise<void> {
  const key = keyOfManifest(archive.archive);
  const about = { archive: archive.archive, sizeBytes: archive.size_bytes, sha256: archive.sha256, packs };
  const plain = encodeObject(about, manifest);
  const copy = { ...about, manifestBytes: plain.length };
  const known = pass.packed.copies.get(key);
  const isThere =
    isDeepStrictEqual(known, copy) && pass.listing.stateOf(key, sealedSize(plain.length)) === "whole";
  if (isThere) return;
  // Before it is stored: nothing that it names goes, even where the answer of the store is lost.
  pass.packed.copies.set(key, copy);
  const sent = await send(pass, { key, ...digestOf(plain), open: () => once(plain) });
  pass.report.sent += 1;
  pass.report.sent_bytes += sent;
  pass.listing.added(key, sent);
}

/** Whoever sends bytes frees them. */
export async function* once(plain: Buffer): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(plain);
}

export const digestOf = (plain: Buffer): Digest => ({
  sizeBytes: plain.length,
  sha256: hash("sha256", plain, "hex"),
});

async function assertListed(pass: Pass, archive: Archive, packs: readonly PackCopy[]): Promise<void> {
  const server = archiveOfKey(keyOfArchive(archive.archive))?.server ?? "";
  const listed = await listBucket(pass.bucket, pass.signal, packsOfServer(server));
  const missing = packs.find((pack) => !isStored(pack, listed));
  if (!missing) return;
  // Later archives of this pass find out before they send.
  pass.listing.removed(keyOfPack(missing.name));
  throw new Error(`the store does not list ${missing.name} with its size after it was stored`);
}
