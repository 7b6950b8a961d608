// Archives as the world agent makes and takes them, in a process of its own so that its heap can be watched.

import { cp, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  Folder,
  keepArchive,
  openArchive,
  restoreWorld,
  unzip,
  verifyArchive,
  writeAll,
  writeArchive,
} from "@svc/world";
import { serveParent } from "../harness/parent.ts";

type Timed = { seconds: number; heapMb: number };

/** Time of something, and the most heap that was in use meanwhile. */
async function timed(act: () => Promise<unknown>): Promise<Timed> {
  let heap = 0;
  const watch = setInterval(() => {
    heap = Math.max(heap, process.memoryUsage().heapUsed);
  }, 50);
  const startedAt = performance.now();
  await act();
  const seconds = (performance.now() - startedAt) / 1_000;
  clearInterval(watch);
  return { seconds, heapMb: Math.max(heap, process.memoryUsage().heapUsed) / 1e6 };
}

type Place = { base: string };
const name = "bench-1.tar.zst";

async function write({ base }: Place): Promise<Timed> {
  await using world = await Folder.openRoot(join(base, "world"));
  await rm(join(base, "ours.tar.zst"), { force: true });
  await using file = await open(join(base, "ours.tar.zst"), "w");
  return await timed(() =>
    writeArchive(world, { compression: "zstd", write: (chunk) => writeAll(file, chunk) }),
  );
}

async function keep({ base }: Place): Promise<Timed> {
  await mkdir(join(base, "store"), { recursive: true });
  await rm(join(base, "store", name), { force: true });
  await using world = await Folder.openRoot(join(base, "world"));
  await using store = await Folder.openRoot(join(base, "store"));
  return await timed(() => keepArchive({ world, store, name, keepFree: 0 }));
}

async function restore({ base }: Place): Promise<Timed> {
  await using archive = await open(join(base, "store", name));
  const { sha256 } = await verifyArchive(await openArchive(archive));
  await rm(join(base, "restored"), { recursive: true, force: true });
  await mkdir(join(base, "restored"));
  await using world = await Folder.openRoot(join(base, "restored"));
  return await timed(() => restoreWorld({ world, archive, sha256 }));
}

async function extract({ base }: Place): Promise<Timed> {
  await rm(join(base, "unzipped"), { recursive: true, force: true });
  await mkdir(join(base, "unzipped"));
  await cp(join(base, "world.zip"), join(base, "unzipped", "world.zip"));
  await using world = await Folder.openRoot(join(base, "unzipped"));
  return await timed(() => unzip({ world, path: "world.zip", overwrite: false }));
}

serveParent({ write, keep, restore, extract });
