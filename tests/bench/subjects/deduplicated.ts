// Whole and deduplicated backups of a world that is played, in a process of its own.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Folder, openArchive, openStored, storeArchive, storeDeduplicated, verifyArchive } from "@svc/world";
import { makePlayedWorld } from "../chunking/played-world.ts";
import { serveParent } from "../harness/parent.ts";

type Place = { base: string };
type Timed = { seconds: number };
const name = "bench-1.tar.zst";
/** Of the archives by folder. */
const digests = new Map<string, string>();
let played: ReturnType<typeof makePlayedWorld> | undefined;

async function timed(act: () => Promise<unknown>): Promise<Timed> {
  const startedAt = performance.now();
  await act();
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

async function fill({ base, width }: Place & { width: number }): Promise<null> {
  await mkdir(join(base, "world"), { recursive: true });
  played = makePlayedWorld(join(base, "world"), { width, seed: 7 });
  return null;
}

async function play(): Promise<null> {
  played?.play();
  return null;
}

/** Does something with the world and an archive folder; with an empty one unless it `continues`. */
async function stored<T>(
  { base }: Place,
  about: { folder: string; continues?: boolean },
  act: (open: { world: Folder; store: Folder }) => Promise<T>,
): Promise<T> {
  const path = join(base, about.folder);
  if (!about.continues) await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  await using world = await Folder.openRoot(join(base, "world"));
  await using store = await Folder.openRoot(path);
  return await act({ world, store });
}

async function whole(place: Place): Promise<Timed & { bytes: number }> {
  return await stored(place, { folder: "whole" }, async (open) => {
    let bytes = 0;
    const took = await timed(async () => {
      const written = await storeArchive({ ...open, name, keepFree: 0 });
      bytes = written.sizeBytes;
      digests.set("whole", written.sha256);
    });
    return { ...took, bytes };
  });
}

async function first(place: Place): Promise<Timed> {
  return await stored(place, { folder: "first" }, (open) =>
    timed(async () => {
      const { sha256 } = await storeDeduplicated({ ...open, name, keepFree: 0 });
      digests.set("first", sha256);
    }),
  );
}

async function next(place: Place & { day: number }): Promise<Timed & { added: number }> {
  return await stored(place, { folder: "days", continues: true }, async (open) => {
    let added = 0;
    const took = await timed(async () => {
      const about = { ...open, name: `bench-${place.day}.tar.zst`, keepFree: 0 };
      added = (await storeDeduplicated(about)).addedBytes;
    });
    return { ...took, added };
  });
}

async function verify(place: Place & { folder: string }): Promise<Timed> {
  return await stored(place, { folder: place.folder, continues: true }, ({ store }) =>
    timed(async () => {
      // As a Job that verifies does.
      await using file = await openStored(store, name, { isCompared: true });
      await verifyArchive(await openArchive(file), { sha256: digests.get(place.folder) });
    }),
  );
}

serveParent({ fill, play, whole, first, next, verify });
