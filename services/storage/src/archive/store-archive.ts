import { readDigest } from "@svc/mesh";
// An archive that a Job sends is stored in the archive folder like any other: as a hidden partial file, synced, read
// back completely, renamed (docs/reference/backups.md#kinds). After any failure no partial file is left.

import { createHash } from "node:crypto";
import { type FileHandle, statfs } from "node:fs/promises";
import { Fault } from "@svc/proto";
import { Folder, isWorldFault, manifestNameOf, openArchive, verifyArchive, writeAll } from "@svc/world";

type Incoming = {
  /** The archive folder. */
  folder: string;
  name: string;
  /** Share of its file system to keep free. */
  keepFree: number;
  /** The Content-Digest from the trailers. */
  trailerDigest: () => string | undefined;
  signal: AbortSignal;
  /** A file of this name is replaced, once the new one is verified. */
  replaces?: boolean;
};

type StoredArchive = { size_bytes: number; sha256: string };

const batchBytes = 1 << 20;

/** Throws `backup_store_full`, `digest_required`, `digest_mismatch`, `backup_corrupt`. */
export async function storeArchive(
  body: AsyncIterable<Uint8Array>,
  incoming: Incoming,
): Promise<StoredArchive> {
  const { name, signal, replaces = false } = incoming;
  const partial = `.${name}.partial`;
  await using store = await Folder.openRoot(incoming.folder);
  for (const taken of replaces ? [partial] : [name, partial])
    if (await store.find(taken)) throw new Error(`the archive ${taken} already exists`);
  try {
    const kept = await receive(store, { partial, body, incoming });
    if (readDigest(incoming.trailerDigest()) !== kept.sha256) throw new Fault("digest_mismatch");
    await readBack(store, { partial, kept, signal });
    await store.move(partial, { name });
    await store.sync();
    // A whole file goes before chunks that are damaged; with them goes what they refer to.
    if (replaces) await removeManifest(store, name);
    return kept;
  } catch (error) {
    await store.removeFile(partial).catch(() => undefined);
    throw asFault(error);
  }
}

async function removeManifest(store: Folder, name: string): Promise<void> {
  await store.removeFile(manifestNameOf(name)).catch((error: unknown) => {
    if (!isWorldFault(error, "not_found")) throw error;
  });
}

type Receiving = { partial: string; body: AsyncIterable<Uint8Array>; incoming: Incoming };

async function receive(store: Folder, { partial, body, incoming }: Receiving): Promise<StoredArchive> {
  await using file = await store.createFile(partial, 0o640);
  const hash = createHash("sha256");
  let size = 0;
  for await (const batch of inBatches(body)) {
    incoming.signal.throwIfAborted();
    await assertSpace(incoming, batch.length);
    hash.update(batch);
    await writeAll(file, batch);
    size += batch.length;
  }
  await file.sync();
  return { size_bytes: size, sha256: hash.digest("hex") };
}

async function* inBatches(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < batchBytes) continue;
    yield Buffer.concat(held);
    [held, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(held);
}

type ReadBack = { partial: string; kept: StoredArchive; signal: AbortSignal };

async function readBack(store: Folder, { partial, kept, signal }: ReadBack): Promise<void> {
  await using file: FileHandle = await store.openFile(partial);
  await verifyArchive(await openArchive(file), { sha256: kept.sha256, signal });
}

async function assertSpace({ folder, keepFree }: Incoming, need: number): Promise<void> {
  const { bavail, bsize, blocks } = await statfs(folder);
  if (bavail * bsize - need >= blocks * bsize * keepFree) return;
  throw new Fault("backup_store_full", {
    message: "The archive file system has too little free space for this world: a tenth of it stays free.",
  });
}

function asFault(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT" || isWorldFault(error, "volume_full"))
    return new Fault("backup_store_full", { cause: error });
  if (isWorldFault(error)) return new Fault("backup_corrupt", { message: error.message, cause: error });
  return error;
}
