// The manifest of a copy in packs (docs/reference/off-site.md#packs): a line of JSON that says what the copy is made of, then the
// manifest as the archive folder has it.

import { isDeepStrictEqual } from "node:util";
import { isObjectStoreError, type ObjectStore } from "@svc/object-store";
import type { KeyRing } from "@svc/sealed";
import { decodeManifest, type Manifest } from "@svc/world/chunks";
import { z } from "zod";
import { keyOfPack, manifestOfKey, packOfKey } from "./object-key.ts";
import type { PackedCopy } from "./packed-copies.ts";
import { openReceived } from "./release-chunks.ts";

const whole = z.number().int().min(0);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const Head = z.strictObject({
  format: z.literal(1),
  archive: z.string(),
  size: whole,
  sha256: digest,
  /** Of what follows the line. */
  bytes: whole,
  packs: z.array(z.strictObject({ name: z.string(), size: whole, sha256: digest })),
});

const newline = 0x0a;
const mostHeadBytes = 64 << 20;

/** The plaintext of an object, of the manifest of the archive folder and of what is known of its packs. */
export function encodeObject(
  { archive, sizeBytes, sha256, packs }: Omit<PackedCopy, "manifestBytes">,
  manifest: Buffer,
): Buffer {
  const head: z.output<typeof Head> = {
    ...{ format: 1, archive, size: sizeBytes, sha256, bytes: manifest.length },
    packs: packs.map((pack) => ({ name: pack.name, size: pack.sizeBytes, sha256: pack.sha256 })),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), manifest]);
}

type Access = { bucket: ObjectStore; ring: KeyRing; signal: AbortSignal };

/** What a manifest of the bucket says, from its first bytes. Throws for one that cannot be opened or is of another archive. */
export async function readHead({ bucket, ring, signal }: Access, key: string): Promise<PackedCopy> {
  const found = await bucket.get(key, { signal });
  if (!found) throw new Error("it is not in the bucket any more");
  const line: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of openReceived(found.bytes, ring)) {
    const end = chunk.indexOf(newline);
    line.push(end < 0 ? chunk : chunk.subarray(0, end));
    bytes += chunk.length;
    if (end >= 0 || bytes > mostHeadBytes) break;
  }
  return parseHead(Buffer.concat(line), key);
}

/** All of it, compared with itself: the chunks lie in the packs that it names. Throws likewise. */
export async function readObject(
  { bucket, ring, signal }: Access,
  key: string,
): Promise<{ copy: PackedCopy; manifest: Manifest } | undefined> {
  const found = await bucket.get(key, { signal });
  if (!found) return undefined;
  const parts: Buffer[] = [];
  for await (const chunk of openReceived(found.bytes, ring)) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  const end = bytes.indexOf(newline);
  const copy = parseHead(bytes.subarray(0, Math.max(0, end)), key);
  if (bytes.length !== copy.manifestBytes) throw new Error("it has another size than it says");
  const manifest = decodeManifest(bytes.subarray(end + 1), copy.archive);
  const named = copy.packs.map(({ name, sizeBytes: size }) => ({ name, size }));
  const isOne = manifest.size === copy.sizeBytes && manifest.sha256 === copy.sha256;
  if (!isOne || !isDeepStrictEqual(named, manifest.packs)) throw new Error("it contradicts itself");
  return { copy, manifest };
}

function parseHead(line: Buffer, key: string): PackedCopy {
  const head = Head.safeParse(parsed(line.toString())).data;
  if (!head) throw new Error("its first line is not that of a manifest");
  const { archive, size, sha256, bytes, packs } = head;
  const own = manifestOfKey(key);
  if (own?.name !== archive)
    throw new Error(
      `it is the manifest of ${archive} under another name; the bucket was changed from outside`,
    );
  if (!packs.every(({ name }) => packOfKey(keyOfPack(name))?.server === own.server))
    throw new Error("it names packs of another server");
  return {
    ...{ archive, sizeBytes: size, sha256, manifestBytes: line.length + 1 + bytes },
    packs: packs.map((pack) => ({ name: pack.name, sizeBytes: pack.size, sha256: pack.sha256 })),
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What cannot be read is damaged, unless the store did not answer. */
export function onlyUnreadable(error: unknown): undefined {
  if (isObjectStoreError(error)) throw error;
}
