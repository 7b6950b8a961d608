// Copies images and contexts: first what has no copy yet, then a list of all of it (docs/reference/off-site.md#indexes). A
// process that dies before the list leaves copies that the next pass finds.

import { isDeepStrictEqual } from "node:util";
import { isObjectStoreError } from "@svc/object-store";
import { sealedSize } from "@svc/sealed";
import type { ImagePart, StoredImages } from "./builds-store.ts";
import {
  type Context,
  hexOf,
  type Image,
  type IndexContent,
  indexesIn,
  kindOfFolder,
  type Part,
  partsOf,
  readIndex,
  writeIndex,
} from "./indexes.ts";
import { type IndexFolder, indexOfKey, keyOfIndex, stampOf } from "./object-key.ts";
import type { Pass } from "./pass-context.ts";
import { send } from "./send.ts";

/** What should be in the bucket of a kind; undefined where it is not known or there is no such kind here. */
export type Indexed = { [F in IndexFolder]?: Part[] };

type Known<F extends IndexFolder> = { key: string; entries: IndexContent[F] };
type Source<F extends IndexFolder> = {
  folder: F;
  entries: IndexContent[F];
  /** The newest list of the bucket that can be read. */
  before: Known<F> | undefined;
  has: (part: Part) => boolean;
  /** Of a part that is here; called again for a repeat. */
  open: (part: Part) => AsyncIterable<Uint8Array>;
};

export async function sendIndexed(pass: Pass): Promise<Indexed> {
  pass.step("images");
  const images = await attempted(pass, "the list of images", () => imagesOf(pass));
  const registry = images && (await sendKind(pass, images));
  pass.step("contexts");
  const contexts = await attempted(pass, "the list of uploads", () => contextsOf(pass));
  const uploads = contexts && (await sendKind(pass, contexts));
  return { ...(registry && { registry }), ...(uploads && { uploads }) };
}

/** Undefined after a failure, which is recorded. */
async function attempted<T>(pass: Pass, what: string, work: () => Promise<T>): Promise<T | undefined> {
  let result: T | undefined;
  await pass.attempt(what, async () => {
    result = await work();
  });
  return result;
}

async function imagesOf(pass: Pass): Promise<Source<"registry"> | undefined> {
  const stored = await pass.builds.images();
  if (!stored.configured) return undefined;
  const places = new Map<string, ImagePart>();
  for (const { repository, digest, size_bytes, blobs } of stored.images) {
    places.set(hexOf(digest), { repository, kind: "manifest", digest, size_bytes });
    for (const blob of blobs) places.set(hexOf(blob.digest), { repository, kind: "blob", ...blob });
  }
  const before = await findNewest(pass, "registry");
  const entries = withWanted(stored, before?.entries ?? []);
  return {
    folder: "registry",
    entries: entries.sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
    before,
    has: ({ sha256 }) => places.has(sha256),
    open: async function* ({ sha256 }) {
      const place = places.get(sha256);
      if (place) yield* pass.builds.openImagePart(place);
    },
  };
}

const placeOf = ({ repository, digest }: Image) => `${repository}@${digest}`;

/** What the registry has, and what it lost although something names it: the list before knows its copies. */
function withWanted({ images, wanted }: StoredImages, before: readonly Image[]): Image[] {
  const here = new Set(images.map(placeOf));
  const lost = before.filter((image) => !here.has(placeOf(image)));
  const isWanted = ({ repository, digest, tags }: Image) =>
    wanted.some(
      (one) =>
        one.repository === repository &&
        ((one.tag === undefined && one.digest === undefined) ||
          one.digest === digest ||
          (one.tag !== undefined && tags.includes(one.tag))),
    );
  const kept = new Set(lost.filter(isWanted));
  // A part of an index may be an index.
  for (const image of kept)
    for (const other of lost)
      if (other.repository === image.repository && image.parts.includes(other.digest)) kept.add(other);
  return [...images, ...kept].map((image) => ({ ...image, tags: image.tags.toSorted() }));
}

async function contextsOf(pass: Pass): Promise<Source<"uploads">> {
  const { builds } = pass;
  const contexts = await builds.contexts();
  const here = new Map<string, string>();
  for (const { id, sha256, local } of contexts) if (local === "whole") here.set(sha256, id);
  return {
    folder: "uploads",
    entries: contexts.map(({ id, size_bytes, sha256 }): Context => ({ id, size_bytes, sha256 })),
    before: await findNewest(pass, "uploads"),
    has: ({ sha256 }) => here.has(sha256),
    open: ({ sha256 }) => builds.openContext(here.get(sha256) ?? ""),
  };
}

/** Lists that cannot be opened are passed over: others were written before them. */
async function findNewest<F extends IndexFolder>(pass: Pass, folder: F): Promise<Known<F> | undefined> {
  for (const key of indexesIn(folder, pass.listing.keys())) {
    try {
      return { key, entries: await readIndex(pass, folder, key) };
    } catch (error) {
      if (isObjectStoreError(error)) throw error;
    }
  }
  return undefined;
}

async function sendKind<F extends IndexFolder>(pass: Pass, source: Source<F>): Promise<Part[]> {
  const { listing, progress } = pass;
  const parts = partsOf(source.folder, source.entries);
  const due = parts
    .filter((part) => listing.stateOf(part.key, sealedSize(part.sizeBytes)) !== "whole" && source.has(part))
    .sort((a, b) => a.sizeBytes - b.sizeBytes);
  const kind = kindOfFolder[source.folder];
  progress.expect(
    kind,
    due.map(({ sizeBytes }) => sealedSize(sizeBytes)),
  );
  for (const part of due) {
    pass.step("part");
    const onProgress = progress.begin(kind);
    await pass.attempt(part.key, async () => {
      const sent = await send(pass, { ...part, open: () => source.open(part), onProgress });
      pass.report.sent += 1;
      pass.report.sent_bytes += sent;
      listing.added(part.key, sent);
    });
    progress.end(sealedSize(part.sizeBytes));
  }
  await sendIndex(pass, source);
  return parts;
}

/** Only where something changed since the newest list. */
async function sendIndex<F extends IndexFolder>(pass: Pass, source: Source<F>): Promise<void> {
  const { listing, report, now } = pass;
  const { folder, entries, before } = source;
  const [newest] = indexesIn(folder, listing.keys());
  if (newest === undefined && entries.length === 0) return;
  if (newest !== undefined && before?.key === newest && isDeepStrictEqual(before.entries, entries)) return;
  const newestAt = newest === undefined ? 0 : (indexOfKey(newest)?.at.getTime() ?? 0);
  const at = stampOf(new Date(Math.max(now(), newestAt + 1_000)));
  pass.step("index");
  await pass.attempt(keyOfIndex(folder, at), async () => {
    const { key, sizeBytes } = await writeIndex(pass, folder, { at, entries });
    report.sent += 1;
    report.sent_bytes += sizeBytes;
    listing.added(key, sizeBytes);
  });
  pass.step("indexed");
}
