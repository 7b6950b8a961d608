// Archives as the world agent makes and takes them, in a process of its own so that its heap can be watched.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { cp, mkdir, open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  commitUpload,
  Folder,
  fetchStream,
  openArchive,
  releaseConsumed,
  restorePaths,
  restoreWorld,
  sendFile,
  sendStream,
  storeArchive,
  unpackContext,
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
const kept = ({ base }: Place) => join(base, "store", name);

/** A folder without anything in it. */
async function openEmpty({ base }: Place, folder: string): Promise<Folder> {
  await rm(join(base, folder), { recursive: true, force: true });
  await mkdir(join(base, folder));
  return await Folder.openRoot(join(base, folder));
}

async function write({ base }: Place): Promise<Timed> {
  await using world = await Folder.openRoot(join(base, "world"));
  await rm(join(base, "ours.tar.zst"), { force: true });
  await using file = await open(join(base, "ours.tar.zst"), "w");
  return await timed(() =>
    writeArchive(world, {
      compression: "zstd",
      write: async (chunk) => {
        await writeAll(file, chunk);
        releaseConsumed(chunk);
      },
    }),
  );
}

async function keep({ base }: Place): Promise<Timed & { sha256: string }> {
  await mkdir(join(base, "store"), { recursive: true });
  await rm(join(base, "store", name), { force: true });
  await using world = await Folder.openRoot(join(base, "world"));
  await using store = await Folder.openRoot(join(base, "store"));
  let sha256 = "";
  const took = await timed(async () => {
    ({ sha256 } = await storeArchive({ world, store, name, keepFree: 0 }));
  });
  return { ...took, sha256 };
}

async function restore(place: Place & { sha256: string }): Promise<Timed> {
  await using archive = await open(kept(place));
  const { sha256 } = place;
  await using world = await openEmpty(place, "restored");
  return await timed(() => restoreWorld({ world, archive, sha256 }));
}

/** A restore into a world that has all but one of its files in common with the archive. */
async function restoreOver(place: Place & { sha256: string }): Promise<Timed> {
  await using archive = await open(kept(place));
  const path = join(place.base, "over");
  await rm(path, { recursive: true, force: true });
  await cp(join(place.base, "world"), path, { recursive: true, preserveTimestamps: true });
  await writeFile(join(path, "region", "r.0.0.mca"), "changed");
  execFileSync("sync", ["--file-system", path]);
  await using world = await Folder.openRoot(path);
  return await timed(() => restoreWorld({ world, archive, sha256: place.sha256 }));
}

/** One file out of an archive; the share of the archive that was read for it, in percent. */
async function pick(place: Place): Promise<Timed & { percent: number }> {
  await using archive = await open(kept(place));
  const { size } = await archive.stat();
  const { sha256 } = await verifyArchive(await openArchive(archive));
  await using world = await openEmpty(place, "picked");
  const read = archive.read.bind(archive) as (...args: unknown[]) => Promise<{ bytesRead: number }>;
  let bytes = 0;
  Object.assign(archive, {
    read: async (...args: unknown[]) => {
      const result = await read(...args);
      bytes += result.bytesRead;
      return result;
    },
  });
  const took = await timed(() => restorePaths({ world, archive, sha256, only: ["region/one.bin"] }));
  return { ...took, percent: (100 * bytes) / size };
}

async function extract(place: Place): Promise<Timed> {
  await using world = await openEmpty(place, "unzipped");
  await cp(join(place.base, "world.zip"), join(place.base, "unzipped", "world.zip"));
  return await timed(() => unzip({ world, path: "world.zip", overwrite: false }));
}

type Far = Place & { url: string };
const targetOf = (url: string) => ({ url, token: "bench", stallMs: 120_000 });

/** An archive to the internal face, as an export sends it. */
async function send(place: Far): Promise<Timed> {
  await using archive = await open(kept(place));
  const { size: length } = await archive.stat();
  const target = { ...targetOf(place.url), length, contentType: "application/zstd" };
  return await timed(() => sendStream(target, (write) => sendFile(archive, { length, write })));
}

/** An upload from the internal face into a world. */
async function land(place: Far & { size: number; sha256: string }): Promise<Timed> {
  const { url, size, sha256 } = place;
  await using world = await openEmpty(place, "landed");
  const content = fetchStream(targetOf(url));
  const parts = [{ size, sha256 }];
  return await timed(() => commitUpload(world, { path: "upload", overwrite: false, parts, content }));
}

/** A build context as the step `context-fetch` takes it, from a file instead of the internal face. */
async function unpackPack(place: Place): Promise<Timed & { sha256: string }> {
  await using root = await openEmpty(place, "context");
  const hash = createHash("sha256");
  const packed = async function* () {
    for await (const chunk of createReadStream(join(place.base, "context.tar.gz"), {
      highWaterMark: 1 << 18,
    })) {
      hash.update(chunk as Buffer);
      yield chunk as Buffer;
    }
  };
  const took = await timed(() => unpackContext(packed(), root));
  return { ...took, sha256: hash.digest("hex") };
}

serveParent({ unpackContext: unpackPack, write, keep, restore, restoreOver, pick, extract, send, land });
