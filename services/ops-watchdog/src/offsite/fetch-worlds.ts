// Brings back the archives whose files are missing or damaged (docs/reference/off-site.md#fetch).

import type { ObjectStore } from "@svc/object-store";
import { type KeyRing, sealedSize } from "@svc/sealed";
import type { ArchiveStore } from "./archive-store.ts";
import { keyOfArchive } from "./object-key.ts";
import { passBytesOn } from "./pass-bytes-on.ts";
import type { Archive } from "./plan-archives.ts";
import { openReceived, releaseChunks } from "./release-chunks.ts";
import { isOfOneObject } from "./send.ts";
import { verified } from "./source.ts";

type FetchWorldsDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  archives: ArchiveStore;
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
  const { archives } = await deps.archives.list();
  for (const archive of archives) {
    if (archive.status !== "present") continue;
    if (archive.local === "whole" && !archive.is_corrupt) {
      done.in_place += 1;
      continue;
    }
    deps.step("world");
    await fetchOne(deps, archive, done);
  }
  return done;
}

async function fetchOne(
  { bucket, ring, archives, signal }: FetchWorldsDeps,
  archive: Archive,
  done: FetchedWorlds,
): Promise<void> {
  const { id, server, size_bytes: sizeBytes, sha256 } = archive;
  const key = keyOfArchive(archive.archive);
  try {
    const found = await bucket.get(key, { sizeBytes: sealedSize(sizeBytes), signal });
    if (!found) {
      done.missing.push({ id, server, archive: archive.archive });
      return;
    }
    const plain = verified(openReceived(found.bytes, ring), { sizeBytes, sha256 });
    await passBytesOn((watch) => archives.giveBack(archive, watch(releaseChunks(plain))));
    done.fetched += 1;
    done.fetched_bytes += sizeBytes;
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    done.failures.push({ key, error: (error as Error).message });
  }
}
