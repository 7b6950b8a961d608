// Brings back images and contexts that are missing here (docs/reference/off-site.md#fetch).

import type { ObjectStore } from "@svc/object-store";
import { type KeyRing, sealedSize } from "@svc/sealed";
import type { BuildsStore, ImagePart } from "./builds-store.ts";
import { hexOf, type Image, type IndexContent, indexesIn, readIndex } from "./indexes.ts";
import { type IndexFolder, indexOfKey, keyOfPart } from "./object-key.ts";
import { passBytesOn } from "./pass-bytes-on.ts";
import { openReceived, releaseChunks } from "./release-chunks.ts";
import { isOfOneObject } from "./send.ts";
import { verified } from "./source.ts";

type FetchIndexedDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  builds: BuildsStore;
  step: (name: string) => void;
  signal: AbortSignal;
};

type Fetched = {
  /** Time of the list that was used, such as 20261123T120000Z. */
  list?: string;
  in_place: number;
  fetched: number;
  fetched_bytes: number;
  /** Neither here nor in the bucket. */
  missing: string[];
  failures: { key: string; error: string }[];
};
export type FetchedImages = Fetched & {
  images: number;
  /** Tags that name another image here. */
  kept_tags: string[];
};
export type FetchedUploads = Fetched;

const nothing = () => ({ in_place: 0, fetched: 0, fetched_bytes: 0, missing: [], failures: [] });

/** The list of `at`, or the newest; every manifest follows what it consists of. */
export async function fetchImages(deps: FetchIndexedDeps, at: Date | undefined): Promise<FetchedImages> {
  const found = await findList(deps, "registry", at);
  if (!found) return { ...nothing(), images: 0, kept_tags: [] };
  const { list, entries } = found;
  const done: FetchedImages = { ...nothing(), list, images: entries.length, kept_tags: [] };
  // Indexes come last: the registry refuses one whose parts it does not have.
  const ordered = entries.toSorted((a, b) => a.parts.length - b.parts.length);
  for (const image of ordered) {
    deps.step("image");
    await fetchImage(deps, image, done);
  }
  return done;
}

async function fetchImage(deps: FetchIndexedDeps, image: Image, done: FetchedImages): Promise<void> {
  const { repository, digest, size_bytes, media_type, blobs, tags } = image;
  const { builds } = deps;
  let isWhole = true;
  for (const blob of blobs)
    isWhole = (await fetchPart(deps, { repository, kind: "blob", ...blob }, done)) && isWhole;
  if (!isWhole) return;
  const manifest: ImagePart = { repository, kind: "manifest", digest, size_bytes, media_type };
  if (!(await fetchPart(deps, manifest, done)) || tags.length === 0) return;
  await tried(done, `${repository}@${digest}`, async () => {
    const kept = await builds.tag({ repository, digest, tags });
    done.kept_tags.push(...kept.map((tag) => `${repository}:${tag}`));
  });
}

/** True when the registry has it. */
async function fetchPart(deps: FetchIndexedDeps, part: ImagePart, done: Fetched): Promise<boolean> {
  const sha256 = hexOf(part.digest);
  const key = keyOfPart("registry", part.kind === "blob" ? "blobs" : "manifests", sha256);
  const give: Wanted["give"] = (bytes) => deps.builds.giveImagePart(part, bytes);
  return fetchOne(deps, { key, sizeBytes: part.size_bytes, sha256, give }, done);
}

/**
 * Contexts whose files are missing here; with `at` only those that the list of that time names. Submissions come with the
 * database: what no submission has is not fetched.
 */
export async function fetchUploads(deps: FetchIndexedDeps, at: Date | undefined): Promise<FetchedUploads> {
  const found = at && (await findList(deps, "uploads", at));
  const listed = found && new Set(found.entries.map(({ sha256 }) => sha256));
  const done: FetchedUploads = { ...nothing(), ...(found && { list: found.list }) };
  for (const context of await deps.builds.contexts()) {
    const { sha256, size_bytes: sizeBytes, local } = context;
    if (listed && !listed.has(sha256)) continue;
    if (local === "whole") {
      done.in_place += 1;
      continue;
    }
    deps.step("context");
    const key = keyOfPart("uploads", "blobs", sha256);
    const give: Wanted["give"] = async (bytes) => {
      await deps.builds.giveContext(context, await bytes());
      return true;
    };
    await fetchOne(deps, { key, sizeBytes, sha256, give }, done);
  }
  return done;
}

type Wanted = {
  key: string;
  sizeBytes: number;
  sha256: string;
  /** Gives the bytes to builds; false when it had them. */
  give: (bytes: () => Promise<AsyncIterable<Uint8Array>>) => Promise<boolean>;
};

class MissingError extends Error {
  override name = "MissingError";
}

async function fetchOne(
  { bucket, ring, signal }: FetchIndexedDeps,
  { key, sizeBytes, sha256, give }: Wanted,
  done: Fetched,
): Promise<boolean> {
  return tried(done, key, async () => {
    const isFetched = await passBytesOn((watch) =>
      give(async () => {
        const found = await bucket.get(key, { sizeBytes: sealedSize(sizeBytes), signal });
        if (!found) throw new MissingError(key);
        return watch(releaseChunks(verified(openReceived(found.bytes, ring), { sizeBytes, sha256 })));
      }),
    );
    done.in_place += isFetched ? 0 : 1;
    done.fetched += isFetched ? 1 : 0;
    done.fetched_bytes += isFetched ? sizeBytes : 0;
  });
}

/** False after a failure, which is recorded; throws what ends the whole fetch. */
async function tried(done: Fetched, key: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    if (error instanceof MissingError) done.missing.push(key);
    else done.failures.push({ key, error: (error as Error).message });
    return false;
  }
}

type List<F extends IndexFolder> = { list: string; entries: IndexContent[F] };

/** The newest list, or the newest of those until `at`; undefined where there never was anything to list. */
async function findList<F extends IndexFolder>(
  deps: FetchIndexedDeps,
  folder: F,
  at: Date | undefined,
): Promise<List<F> | undefined> {
  const keys: string[] = [];
  for await (const { key } of deps.bucket.list(`${folder}/index/`, { signal: deps.signal })) keys.push(key);
  const key = indexesIn(folder, keys).find((one) => !at || (indexOfKey(one)?.at ?? at) <= at);
  if (key === undefined) {
    if (at)
      throw new Error(
        `the bucket has no list of ${at.toISOString()} or before; \`svc offsite list\` names them`,
      );
    for await (const part of deps.bucket.list(`${folder}/`, { signal: deps.signal }))
      throw new Error(`the bucket has ${part.key}, and no list that names it: somebody deleted the lists`);
    return undefined;
  }
  const entries = await readIndex(deps, folder, key).catch((error: Error) => {
    throw new Error(`${key} cannot be read (${error.message}); --at names an older one`, { cause: error });
  });
  return { list: key.slice(`${folder}/index/`.length).split(".")[0] ?? "", entries };
}
