// Brings back the archives whose files are missing or damaged (docs/reference/off-site.md#fetch).

import type { ObjectStore } from "@svc/object-store";
import { type KeyRing, sealedSize } from "@svc/sealed";
import type { ArchiveStore } from "./archive-store.ts";
import { createPackFetcher, type PackFetcher } from "./fetch-packed.ts";
import { keyOfArchive, keyOfManifest } from "./object-key.ts";
import { passBytesOn } from "./pass-bytes-on.ts";
import type { Archive } from "./plan-archives.ts";
import { openReceived, releaseChunks } from "./release-chunks.ts";
import { isOfOneObject, isOutOfReach } from "./send.ts";
import { verified } from "./source.ts";

type FetchWorldsDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  archives: ArchiveStore;
  /** Of this host; packs are put together there. */
  stateDir: string;
  step: (name: string) => void;
  signal: AbortSignal;
};

export type FetchedWorlds = {
  in_place: number;
  fetched: number;
  fetched_bytes: number;
  /** Neither here nor in the bucket. */
  missing: { id: string; server: string; archive: string }[];
  failures: { key: string; error: string }[];
};

export async function fetchWorlds(deps: FetchWorldsDeps): Promise<FetchedWorlds> {
  const done: FetchedWorlds = { in_place: 0, fetched: 0, fetched_bytes: 0, missing: [], failures: [] };
  const present = (await deps.archives.list()).archives.filter(({ status }) => status === "present");
  const lacking = present.filter(({ local, is_corrupt }) => local !== "whole" || is_corrupt);
  done.in_place = present.length - lacking.length;
  // Archives of a server share packs, which are fetched once for all of them.
  lacking.sort((a, b) => (a.server === b.server ? 0 : a.server < b.server ? -1 : 1));
  const packs = createPackFetcher(deps);
  try {
    for (const archive of lacking) {
      deps.step("world");
      await fetchOne({ ...deps, packs }, archive, done);
    }
  } finally {
    await packs.close();
  }
  return done;
}

type Opened = AsyncIterable<Uint8Array> | undefined;

/** The two forms of a copy, the one that needs no others first. */
function formsOf(
  { bucket, ring, signal, packs }: FetchOneDeps,
  archive: Archive,
): [key: string, open: () => Promise<Opened>][] {
  const { size_bytes: sizeBytes, server } = archive;
  const whole = keyOfArchive(archive.archive);
  return [
    [
      whole,
      async () => {
        const found = await bucket.get(whole, { sizeBytes: sealedSize(sizeBytes), signal });
        return found && openReceived(found.bytes, ring);
      },
    ],
    [keyOfManifest(archive.archive), () => packs.open({ archive: archive.archive, server })],
  ];
}

type FetchOneDeps = FetchWorldsDeps & { packs: PackFetcher };

async function fetchOne(deps: FetchOneDeps, archive: Archive, done: FetchedWorlds): Promise<void> {
  const { id, server, size_bytes: sizeBytes, sha256 } = archive;
  const failures: FetchedWorlds["failures"] = [];
  for (const [key, open] of formsOf(deps, archive)) {
    try {
      const opened = await open();
      if (!opened) continue;
      const plain = verified(opened, { sizeBytes, sha256 });
      await passBytesOn((watch) => deps.archives.giveBack(archive, watch(releaseChunks(plain))));
      done.fetched += 1;
      done.fetched_bytes += sizeBytes;
      return;
    } catch (error) {
      if (!isOfOneObject(error)) throw error;
      failures.push({ key, error: (error as Error).message });
      // The other form is for copies that are damaged; a store that does not answer would not answer for it either.
      if (isOutOfReach(error)) break;
    }
  }
  if (failures.length === 0) done.missing.push({ id, server, archive: archive.archive });
  done.failures.push(...failures);
}
