// Puts an archive together again from the packs of its copy (docs/reference/off-site.md#fetch). Each pack is fetched once, whole, into
// a folder beside the other state of this host: the chunks of an archive lie all over its packs, and archives of a server share them.

import { mkdir, readdir, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ObjectStore } from "@svc/object-store";
import { type KeyRing, sealedSize } from "@svc/sealed";
import { Folder, openChunks, readAhead } from "@svc/world/chunks";
import { writeChunks } from "../bundle/durable.ts";
import { readObject } from "./manifest-object.ts";
import { keyOfManifest, keyOfPack } from "./object-key.ts";
import { isSamePack, type PackCopy } from "./packed-copies.ts";
import { openReceived } from "./release-chunks.ts";
import { verified, WrongBytesError } from "./source.ts";

type FetchDeps = {
  bucket: ObjectStore;
  ring: KeyRing;
  stateDir: string;
  step: (name: string) => void;
  signal: AbortSignal;
};

export type PackFetcher = {
  /** The archive as one stream, whose digest the caller compares; undefined where the bucket has no manifest of it. */
  open: (wanted: { archive: string; server: string }) => Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Deletes what was fetched. */
  close: () => Promise<void>;
};

/** Fetch the archives of a server one after the other: packs are kept until one of another server is asked for. */
export function createPackFetcher(deps: FetchDeps): PackFetcher {
  const folder = join(deps.stateDir, "packs");
  const fetched = new Map<string, PackCopy>();
  let of: string | undefined;
  return {
    open: async ({ archive, server }) => {
      const key = keyOfManifest(archive);
      const found = await readObject(deps, key);
      if (!found) return undefined;
      if (of !== server) {
        // Also what a process left that was killed.
        await rm(folder, { recursive: true, force: true });
        fetched.clear();
        of = server;
      }
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { packs } = found.copy;
      await dropOthers(folder, packs);
      for (const pack of packs) {
        const known = fetched.get(pack.name);
        if (known && isSamePack(known, pack)) continue;
        await fetchPack(deps, folder, pack);
        fetched.set(pack.name, pack);
      }
      return readTogether(folder, found);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Later archives of the server need mostly what this one does. */
async function dropOthers(folder: string, packs: readonly PackCopy[]): Promise<void> {
  const needed = new Set(packs.map(({ name }) => name));
  for (const name of await readdir(folder)) if (!needed.has(name)) await unlink(join(folder, name));
}

async function fetchPack(
  { bucket, ring, step, signal }: FetchDeps,
  folder: string,
  pack: PackCopy,
): Promise<void> {
  step("fetch-pack");
  const found = await bucket.get(keyOfPack(pack.name), { sizeBytes: sealedSize(pack.sizeBytes), signal });
  if (!found) throw new WrongBytesError(`${keyOfPack(pack.name)} is not in the bucket any more`);
  await writeChunks(join(folder, pack.name), verified(openReceived(found.bytes, ring), pack));
  step("fetched-pack");
}

type Found = NonNullable<Awaited<ReturnType<typeof readObject>>>;

async function* readTogether(folder: string, { manifest }: Found): AsyncGenerator<Uint8Array> {
  // It closes the folder with itself.
  await using file = openChunks(await Folder.openRoot(folder), manifest, { isCompared: true });
  // The memory of a chunk is used again for the next one, and whoever sends chunks frees them.
  for await (const chunk of readAhead(file, manifest.size)) yield new Uint8Array(chunk);
}
