// Which copies of archives are the ones that this host stored (docs/reference/off-site.md#own). Whoever may write to the bucket can put an
// object of the same size in their place, which a list shows by its tag alone; for a copy that is recorded a world may be deleted.

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sealedSize } from "@svc/sealed";
import { z } from "zod";
import { writeDurably } from "../bundle/durable.ts";
import { keyOfArchive } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import type { Archive } from "./plan-archives.ts";
import { openReceived, releaseChunks } from "./release-chunks.ts";
import { isOfOneObject, isOutOfReach } from "./send.ts";
import { verified, WrongBytesError } from "./source.ts";
import { spareOf } from "./spare.ts";

const Tags = z.record(z.string(), z.string());
type Tags = ReadonlyMap<string, string>;

const fileIn = (stateDir: string) => join(stateDir, "copies.json");

export type OwnCopies = {
  /** Notes the tag of a copy that was stored. */
  stored: (key: string, tag: string) => void;
  /** Puts what is known on the disk, where it has changed. */
  write: () => Promise<void>;
};

/** Opens each copy that has another tag than the one that is known; one that is not intact counts as not whole. */
export async function checkOwnCopies(
  pass: Pick<Pass, "bucket" | "ring" | "listing" | "settings" | "attempt" | "step" | "signal">,
  archives: readonly Archive[],
): Promise<OwnCopies> {
  const { listing, settings } = pass;
  const known = await readTags(settings.state_dir);
  const tags = new Map<string, string>();
  for (const archive of archives) {
    const key = keyOfArchive(archive.archive);
    const listed = listing.find(key);
    if (archive.status !== "present" || !listed) continue;
    if (listing.stateOf(key, sealedSize(archive.size_bytes)) !== "whole") continue;
    const tag = plainTag(listed.etag);
    let isOwn = isKnown({ tag, before: known?.get(key), isFirst: known === undefined, archive });
    if (!isOwn) {
      pass.step("own");
      const isThere = await pass.attempt(key, async () => {
        isOwn = (await open(pass, archive)) === key;
      });
      if (!isThere) listing.spoiled(key);
    }
    if (isOwn) tags.set(key, tag);
  }
  return {
    stored: (key, tag) => void tags.set(key, plainTag(tag)),
    write: async () => {
      if (!isSame(known, tags)) await writeTags(settings.state_dir, tags);
    },
  };
}

/** Stores differ in whether they quote it in lists. */
const plainTag = (tag: string) => tag.replace(/^W\//, "").replaceAll('"', "");

type Known = { tag: string; before: string | undefined; isFirst: boolean; archive: Archive };

/** A host that knows no tag at all relies on what is recorded: it is new, or has not known them before this release. */
function isKnown({ tag, before, isFirst, archive }: Known): boolean {
  return before === undefined ? isFirst && archive.offsite_at !== undefined : before === tag;
}

type Access = Pick<Pass, "bucket" | "ring" | "listing" | "signal">;

/** The key under which it is intact. A rotation that was cut has left a second copy, which this pass puts in its place. */
async function open(access: Access, archive: Archive): Promise<string> {
  const key = keyOfArchive(archive.archive);
  const spare = spareOf(key);
  try {
    await openOne(access, key, archive);
    return key;
  } catch (error) {
    if (!(error instanceof WrongBytesError) || !access.listing.find(spare)) throw error;
    await openOne(access, spare, archive);
    return spare;
  }
}

async function openOne(
  { bucket, ring, signal }: Access,
  key: string,
  { size_bytes: sizeBytes, sha256 }: Archive,
): Promise<void> {
  const found = await bucket.get(key, { sizeBytes: sealedSize(sizeBytes), signal });
  if (!found) throw new WrongBytesError("it is not in the bucket any more");
  const plain = verified(openReceived(found.bytes, ring), { sizeBytes, sha256 });
  try {
    for await (const _ of releaseChunks(plain));
  } catch (error) {
    if (isOutOfReach(error) || !isOfOneObject(error)) throw error;
    throw new WrongBytesError(`another object is in its place: ${(error as Error).message}`);
  }
}

/** Undefined where nothing is known. */
async function readTags(stateDir: string): Promise<Tags | undefined> {
  try {
    return new Map(Object.entries(Tags.parse(JSON.parse(await readFile(fileIn(stateDir), "utf8")))));
  } catch {
    return undefined;
  }
}

async function writeTags(stateDir: string, tags: Tags): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await writeDurably(fileIn(stateDir), JSON.stringify(Object.fromEntries(tags)));
}

function isSame(known: Tags | undefined, tags: Tags): boolean {
  return known?.size === tags.size && [...tags].every(([key, tag]) => known.get(key) === tag);
}
