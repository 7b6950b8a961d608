// What a pass knows of copies in packs (docs/reference/off-site.md#packs).

import { hash } from "node:crypto";
import { onlyUnreadable, readHead } from "./manifest-object.ts";
import { keyOfPack, manifestOfKey, packListObject } from "./object-key.ts";
import { decodeList, encodeList, noPacks, type PackList, readList, writeList } from "./pack-list.ts";
import {
  type PackCopy,
  type Packed,
  type PackedCopy,
  packedStateOf,
  packsIn,
  type Wanted,
} from "./packed-copies.ts";
import type { Pass } from "./pass-context.ts";
import type { CopyState } from "./plan-archives.ts";

type Reading = Pick<Pass, "bucket" | "ring" | "listing" | "signal" | "attempt">;

/** Reads the list, and the manifests that are not in it. A bucket without copies in packs costs no request. */
export async function readPacked(pass: Reading): Promise<Packed> {
  const { listing, attempt } = pass;
  const { list, encoded } = await findList(pass);
  const copies = new Map<string, PackedCopy>();
  for (const { key, etag } of listing.all()) {
    if (manifestOfKey(key) === undefined) continue;
    const known = list.copies.get(key);
    if (known && etag !== "" && known.tag === etag) copies.set(key, known.copy);
    else
      await attempt(key, async () => {
        const copy = await readHead(pass, key).catch(onlyUnreadable);
        if (copy) copies.set(key, copy);
      });
  }
  const digests = packsIn(copies);
  for (const [name, pack] of list.packs) if (!digests.has(name)) digests.set(name, pack);
  return { copies, digests, retiredAt: list.retiredAt, planned: new Set(), written: digestOf(encoded) };
}

type FoundList = { list: PackList; encoded: string };

/** One that cannot be read counts as none, and is replaced. */
async function findList(pass: Reading): Promise<FoundList> {
  const none = () => ({ list: noPacks(), encoded: encodeList(noPacks()) });
  if (!pass.listing.find(packListObject)) return none();
  const encoded = await readList(pass).catch(onlyUnreadable);
  try {
    return encoded === undefined ? none() : { list: decodeList(encoded), encoded };
  } catch {
    return none();
  }
}

const digestOf = (encoded: string) => hash("sha256", encoded, "hex");

type Writing = Pick<Pass, "bucket" | "ring" | "listing" | "signal" | "attempt" | "claim" | "packed">;

/** Stores the list where it says something else than before. */
export async function writePacked({ packed, listing, attempt, claim, ...access }: Writing): Promise<void> {
  const encoded = encodeList(listIn(packed, listing));
  if (digestOf(encoded) === packed.written) return;
  await attempt(packListObject, async () => {
    await claim.assertHeld();
    listing.added(packListObject, await writeList(access, encoded));
    packed.written = digestOf(encoded);
  });
}

function listIn({ copies, digests, retiredAt, planned }: Packed, listing: Pass["listing"]): PackList {
  const list: PackList = { copies: new Map(), packs: new Map(), retiredAt };
  const add = (pack: PackCopy) => list.packs.set(pack.name, pack);
  for (const [key, copy] of copies) {
    const tag = listing.find(key)?.etag ?? "";
    // One that was stored just now is read back by the next pass.
    if (tag === "") continue;
    // A manifest that contradicts another is read each time.
    if (!copy.packs.every(({ name }) => digests.get(name))) continue;
    copy.packs.forEach(add);
    list.copies.set(key, { tag, copy });
  }
  for (const pack of digests.values())
    if (pack && (planned.has(pack.name) || listing.find(keyOfPack(pack.name)))) add(pack);
  return list;
}

/** Of both forms that the copy of an archive may have. */
export function packedStateIn({
  listing,
  packed,
}: Pick<Pass, "listing" | "packed">): (archive: Wanted) => CopyState {
  return (archive) => packedStateOf(archive, packed, listing);
}
