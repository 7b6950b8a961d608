// Contexts in a folder that all replicas share: a hidden partial, synced, renamed, and its folder synced.

import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "@svc/proto";
import { createFileWriter, readAhead } from "@svc/world";
import type { ContextStore, StoredBlob } from "./store.ts";

const ownerOnly = { recursive: true, mode: 0o700 } as const;

export function openFolderStore(root: string): ContextStore {
  return {
    volume: async () => {
      await mkdir(root, ownerOnly).catch(asUnavailable);
      const { bavail, blocks, bsize } = await statfs(root).catch(asUnavailable);
      return { size: blocks * bsize, free: bavail * bsize };
    },
    put: async (name, body, signal) => {
      await putFile(join(root, name), body, signal).catch(asStoreFault);
    },
    read: ({ name, size }, signal) => readFile(join(root, name), { size, signal }),
    readWhole: (name, signal) => readFile(join(root, name), { signal }),
    remove: async (names) => {
      for (const name of names) await rm(join(root, name), { force: true });
      // Fails while something else is in it.
      for (const folder of new Set(names.map((name) => dirname(name))))
        await rmdir(join(root, folder)).catch(() => {});
    },
    list: () => listFiles(root),
    close: () => {},
  };
}

async function* readFile(
  place: string,
  { size, signal }: { size?: number; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const file = await open(place, "r").catch(asMissing);
  try {
    for await (const chunk of readAhead(file, size ?? (await file.stat()).size)) {
      signal.throwIfAborted();
      yield chunk;
    }
  } finally {
    await file.close();
  }
}

async function putFile(place: string, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  const folder = dirname(place);
  const made = await mkdir(folder, ownerOnly);
  if (made !== undefined) await syncFolder(dirname(folder));
  const partial = join(folder, `.partial-${randomBytes(8).toString("hex")}`);
  const file = await open(partial, "wx", 0o600);
  try {
    await writeBody(file, body, signal);
    await file.close();
    await rename(partial, place);
    await syncFolder(folder);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeBody(
  file: FileHandle,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const writer = createFileWriter(file);
  for await (const chunk of body) {
    signal.throwIfAborted();
    if (!writer.write(chunk)) await writer.flush();
  }
  await writer.finish();
  signal.throwIfAborted();
  await file.datasync();
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function listFiles(root: string): Promise<StoredBlob[]> {
  const found: StoredBlob[] = [];
  for (const folder of await readdir(root).catch(() => [])) {
    if (!/^sub-[0-9a-f]{24}$/.test(folder)) continue;
    for (const file of await readdir(join(root, folder)).catch(() => [])) {
      const name = `${folder}/${file}`;
      const about = await stat(join(root, name)).catch(() => undefined);
      if (about?.isFile()) found.push({ name, size: about.size, modifiedAt: about.mtimeMs });
    }
  }
  return found;
}

const errnoOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined);

function asStoreFault(error: unknown): never {
  const code = errnoOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") throw new Fault("uploads_full", { cause: error });
  if (code === "EIO" || code === "EROFS" || code === "EACCES" || code === "ENOENT") asUnavailable(error);
  throw error;
}

function asUnavailable(error: unknown): never {
  throw new Fault("uploads_store_unavailable", { cause: error });
}

function asMissing(error: unknown): never {
  throw new Fault("unavailable", { message: "A stored part of this context cannot be read.", cause: error });
}
