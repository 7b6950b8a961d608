// The list of what manifests name and of packs that nothing names, one object that the writer of the bucket owns
// (docs/reference/off-site.md#packs). A manifest counts only under the tag that the bucket lists for it: any other is read. So a list
// that is lost or old costs requests, and makes what is to go wait longer.

import { text } from "node:stream/consumers";
import { bytesBody, type ObjectStore } from "@svc/object-store";
import { createSealedBody, type KeyRing, open, sealedSize } from "@svc/sealed";
import { z } from "zod";
import { keyOfManifest, packListObject } from "./object-key.ts";
import type { PackCopy, PackedCopy } from "./packed-copies.ts";

const whole = z.number().int().min(0);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
/** Name, size and digest. */
const Pack = z.tuple([z.string(), whole, digest]);
/** Archive, its size and digest, tag and plain size of its manifest, and the numbers of its packs. */
const Copy = z.tuple([z.string(), whole, digest, z.string(), whole, z.array(whole)]);
const List = z.object({
  format: z.literal(1),
  /** Tens of thousands, so each is parsed by itself. */
  packs: z.array(z.unknown()),
  copies: z.array(z.unknown()),
  /** Unix milliseconds since which nothing names a pack. */
  retired: z.record(z.string(), z.number()),
});

export type PackList = {
  /** By the key of the manifest. */
  copies: Map<string, { tag: string; copy: PackedCopy }>;
  /** Those of the copies, and those that were on their way when a copy ended. */
  packs: Map<string, PackCopy>;
  retiredAt: ReadonlyMap<string, number>;
};

export const noPacks = (): PackList => ({ copies: new Map(), packs: new Map(), retiredAt: new Map() });

type Named = { name: string };
const byName = (one: Named, other: Named) => (one.name < other.name ? -1 : 1);

/** The same text for the same list. */
export function encodeList({ copies, packs, retiredAt }: PackList): string {
  const sorted = [...packs.values()].sort(byName);
  const places = new Map(sorted.map(({ name }, place) => [name, place]));
  const entries = [...copies.values()].sort((one, other) => (one.copy.archive < other.copy.archive ? -1 : 1));
  const list: z.output<typeof List> = {
    format: 1,
    packs: sorted.map(({ name, sizeBytes, sha256 }): z.output<typeof Pack> => [name, sizeBytes, sha256]),
    copies: entries.map(
      ({ tag, copy }): z.output<typeof Copy> => [
        ...([copy.archive, copy.sizeBytes, copy.sha256, tag, copy.manifestBytes] as const),
        copy.packs.map(({ name }) => places.get(name) ?? -1),
      ],
    ),
    retired: Object.fromEntries([...retiredAt].sort()),
  };
  return JSON.stringify(list);
}

/** Throws for anything but a list. */
export function decodeList(encoded: string): PackList {
  const list = List.parse(JSON.parse(encoded));
  const packs = list.packs.map((entry): PackCopy => {
    const [name, sizeBytes, sha256] = Pack.parse(entry);
    return { name, sizeBytes, sha256 };
  });
  const found: PackList = {
    copies: new Map(),
    packs: new Map(packs.map((pack) => [pack.name, pack])),
    retiredAt: new Map(Object.entries(list.retired)),
  };
  for (const entry of list.copies) {
    const [archive, sizeBytes, sha256, tag, manifestBytes, places] = Copy.parse(entry);
    const named = places.map((place) => packs[place]).filter((pack) => pack !== undefined);
    if (named.length !== places.length) throw new Error("it names packs that it does not have");
    const copy = { archive, sizeBytes, sha256, manifestBytes, packs: named };
    found.copies.set(keyOfManifest(archive), { tag, copy });
  }
  return found;
}

type Access = { bucket: ObjectStore; ring: KeyRing; signal: AbortSignal };

/** Undefined where there is none. Throws for one that cannot be opened. */
export async function readList({ bucket, ring, signal }: Access): Promise<string | undefined> {
  const found = await bucket.get(packListObject, { signal });
  return found && (await text(open(found.bytes, ring)));
}

/** Stores a list in place of the one before; returns its sealed size. */
export async function writeList({ bucket, ring, signal }: Access, encoded: string): Promise<number> {
  const plain = Buffer.from(encoded);
  const { sizeBytes, state, read } = createSealedBody({
    key: ring.active,
    plainBytes: plain.length,
    readPlain: (from) => bytesBody(plain).read(from),
  });
  await bucket.put({
    key: packListObject,
    fingerprint: packListObject,
    body: () => ({ sizeBytes, state, read }),
    signal,
  });
  return sealedSize(plain.length);
}
