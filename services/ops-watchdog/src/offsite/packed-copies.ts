// Copies of deduplicated archives (docs/reference/off-site.md#packs): a manifest for each archive, which names the packs that its
// chunks are in. Pure.
//
// | manifest                                  | packs                        | copy      |
// |-------------------------------------------|------------------------------|-----------|
// | not listed                                | any                          | none      |
// | listed, and cannot be read                | any                          | not whole |
// | of another size than it says              | any                          | not whole |
// | of an archive of another size or digest   | any                          | not whole |
// | as it was written                         | one is missing, or of another size | not whole |
// | as it was written                         | two manifests say of one that it is something else | not whole |
// | as it was written                         | all listed with their sizes  | whole     |

import { sealedSize } from "@svc/sealed";
import type { Listing } from "./listing.ts";
import { keyOfManifest, keyOfPack } from "./object-key.ts";
import type { Archive, CopyState } from "./plan-archives.ts";

/** Size and digest are of the plaintext, which is the file in the archive folder. */
export type PackCopy = { name: string; sizeBytes: number; sha256: string };

/** What a manifest of the bucket says. */
export type PackedCopy = {
  archive: string;
  /** Of the archive as one stream. */
  sizeBytes: number;
  sha256: string;
  /** Of the plaintext of the manifest. */
  manifestBytes: number;
  packs: readonly PackCopy[];
};

/** By the key of the manifest; one that is listed and not in here cannot be read. */
type PackedCopies = ReadonlyMap<string, PackedCopy>;

/** What a pass knows of them. */
export type Packed = {
  /** Of the manifests that can be read, by their keys, and of those that this pass began to store. */
  copies: Map<string, PackedCopy>;
  /**
   * What was sent under the names of packs; null where manifests contradict one another. A manifest is only stored where it agrees,
   * so this stays what all of them say, and none has to be asked again.
   */
  digests: Map<string, PackCopy | null>;
  retiredAt: ReadonlyMap<string, number>;
  /** Names of packs that are on their way under a digest which the list has. */
  planned: Set<string>;
  /** Digest of the list as it is in the bucket. */
  written: string;
};

type Lookup = Pick<Listing, "find" | "stateOf">;
export type Wanted = Pick<Archive, "archive" | "size_bytes" | "sha256">;

/** What the manifests say of each pack; null where they contradict one another. */
export function packsIn(copies: PackedCopies): Map<string, PackCopy | null> {
  const packs = new Map<string, PackCopy | null>();
  for (const copy of copies.values())
    for (const pack of copy.packs) {
      const known = packs.get(pack.name);
      if (known === undefined) packs.set(pack.name, pack);
      else if (known !== pack && known && !isSamePack(known, pack)) packs.set(pack.name, null);
    }
  return packs;
}

export const isSamePack = (one: PackCopy, other: PackCopy): boolean =>
  one.sizeBytes === other.sizeBytes && one.sha256 === other.sha256;

type Known = { copies: PackedCopies; digests: ReadonlyMap<string, PackCopy | null> };

export function packedStateOf(wanted: Wanted, { copies, digests }: Known, listing: Lookup): CopyState {
  const key = keyOfManifest(wanted.archive);
  if (!listing.find(key)) return "none";
  const copy = copies.get(key);
  const isOfThis = copy?.sizeBytes === wanted.size_bytes && copy.sha256 === wanted.sha256;
  if (!copy || !isOfThis || listing.stateOf(key, sealedSize(copy.manifestBytes)) !== "whole")
    return "not_whole";
  const isHere = (pack: PackCopy) => digests.get(pack.name) !== null && isStored(pack, listing);
  return copy.packs.every(isHere) ? "whole" : "not_whole";
}

/** Whether a pack is listed with the size that it must have. */
export function isStored(
  { name, sizeBytes }: Pick<PackCopy, "name" | "sizeBytes">,
  listing: Lookup,
): boolean {
  return listing.stateOf(keyOfPack(name), sealedSize(sizeBytes)) === "whole";
}

/** Of the two forms that a copy may have; one is enough. */
export function betterState(one: CopyState, other: CopyState): CopyState {
  if (one === "whole" || other === "whole") return "whole";
  return one === "none" ? other : one;
}
