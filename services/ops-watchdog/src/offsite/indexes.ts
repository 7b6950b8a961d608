// Lists of what images and contexts are made of, one object for each time that they changed
// (docs/reference/off-site.md#indexes). What a list names is in the bucket once, however many lists name it.

import { json } from "node:stream/consumers";
import { bytesBody, type ObjectStore } from "@svc/object-store";
import { offsiteBuilds, type offsites } from "@svc/proto";
import { createSealedBody, type KeyRing, open, sealedSize } from "@svc/sealed";
import { z } from "zod";
import { type IndexFolder, indexOfKey, keyOfIndex, keyOfPart } from "./object-key.ts";

const stamp = z.string().regex(/^\d{8}T\d{6}Z$/);
const Images = z.object({
  format: z.literal(1),
  at: stamp,
  images: z.array(offsiteBuilds.OffsiteImage),
});
const Contexts = z.object({
  format: z.literal(1),
  at: stamp,
  contexts: z.array(offsiteBuilds.OffsiteContext.omit({ local: true })),
});
export type Image = offsiteBuilds.OffsiteImage;
export type Context = z.output<typeof Contexts>["contexts"][number];

/** What is behind one list. */
export type IndexContent = { registry: Image[]; uploads: Context[] };
export const kindOfFolder = { registry: "images", uploads: "uploads" } as const satisfies Record<
  IndexFolder,
  offsites.OffsiteKind
>;

/** An object that a list names, by the digest and the size of its plaintext. */
export type Part = { key: string; sizeBytes: number; sha256: string };

type Access = { bucket: ObjectStore; ring: KeyRing; signal: AbortSignal };

/** Throws for a list that cannot be opened, is of another format, or is that of another time. */
export async function readIndex<F extends IndexFolder>(
  { bucket, ring, signal }: Access,
  folder: F,
  key: string,
): Promise<IndexContent[F]> {
  const found = await bucket.get(key, { signal });
  if (!found) throw new Error("it is not in the bucket any more");
  const content = await json(open(found.bytes, ring));
  const { at, entries } = parse(folder, content);
  if (keyOfIndex(folder, at) !== key)
    throw new Error(`it is the list of ${at} under another name; the bucket was changed from outside`);
  return entries as IndexContent[F];
}

function parse(folder: IndexFolder, content: unknown): { at: string; entries: unknown } {
  if (folder === "registry") {
    const { at, images } = Images.parse(content);
    return { at, entries: images };
  }
  const { at, contexts } = Contexts.parse(content);
  return { at, entries: contexts };
}

/** Stores a list; returns its key and sealed size. */
export async function writeIndex<F extends IndexFolder>(
  { bucket, ring, signal }: Access,
  folder: F,
  { at, entries }: { at: string; entries: IndexContent[F] },
): Promise<{ key: string; sizeBytes: number }> {
  const list = folder === "registry" ? { images: entries } : { contexts: entries };
  const plain = Buffer.from(JSON.stringify({ format: 1, at, ...list }));
  const key = keyOfIndex(folder, at);
  const { sizeBytes, state, read } = createSealedBody({
    key: ring.active,
    plainBytes: plain.length,
    readPlain: (from) => bytesBody(plain).read(from),
  });
  await bucket.put({ key, fingerprint: key, body: () => ({ sizeBytes, state, read }), signal });
  return { key, sizeBytes: sealedSize(plain.length) };
}

/** Every object that a list names, each once. */
export function partsOf<F extends IndexFolder>(folder: F, entries: IndexContent[F]): Part[] {
  const parts = new Map<string, Part>();
  const add = (name: "blobs" | "manifests", sha256: string, sizeBytes: number) => {
    const key = keyOfPart(folder, name, sha256);
    parts.set(key, { key, sizeBytes, sha256 });
  };
  if (folder === "uploads")
    for (const { sha256, size_bytes } of entries as Context[]) add("blobs", sha256, size_bytes);
  else
    for (const { digest, size_bytes, blobs } of entries as Image[]) {
      for (const blob of blobs) add("blobs", hexOf(blob.digest), blob.size_bytes);
      add("manifests", hexOf(digest), size_bytes);
    }
  return [...parts.values()];
}

export const hexOf = (digest: string): string => digest.slice("sha256:".length);

/** Keys of the lists of a folder, the newest first. */
export function indexesIn(folder: IndexFolder, keys: Iterable<string>): string[] {
  const found = [...keys].filter((key) => indexOfKey(key)?.folder === folder);
  return found.sort().reverse();
}
