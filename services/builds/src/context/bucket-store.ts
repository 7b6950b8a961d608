// Contexts in a bucket: the same blobs as in a folder. A blob comes as a stream of unknown length and may have to be sent twice,
// so it is collected in a scratch file first, which has no name: nothing of it stays when this process dies.

import type { FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import {
  isObjectStoreError,
  type ObjectStore,
  type ObjectStoreOptions,
  openObjectStore,
} from "@svc/object-store";
import { Fault } from "@svc/proto";
import { createFileWriter } from "@svc/world";
import { asFull, openScratch } from "./scratch.ts";
import type { ContextStore, StoredBlob } from "./store.ts";

const readBytes = 256 << 10;
const removedAtOnce = 8;
const abandonedMs = 86_400_000;

export function openBucket(options: ObjectStoreOptions): ContextStore {
  return openBucketStore(openObjectStore(options));
}

export function openBucketStore(store: ObjectStore, scratch = tmpdir()): ContextStore {
  return {
    // A bucket has no size; `registry.user_uploads_max_bytes` bounds what is in it.
    volume: async () => undefined,
    put: async (name, body, signal) => {
      const file = await openScratch(scratch).catch(asFull);
      try {
        const sizeBytes = await writeBody(file, body, signal).catch(asFull);
        const bytes = { sizeBytes, state: "", read: (from: number) => readFrom(file, from, sizeBytes) };
        await store
          .put({ key: name, body: () => bytes, fingerprint: name, signal })
          .catch(asStoreFault(signal));
      } finally {
        await file.close();
      }
    },
    read: ({ name, size }, signal) => readBlob(store, name, { sizeBytes: size, signal }),
    readWhole: (name, signal) => readBlob(store, name, { signal }),
    remove: async (names) => {
      for (let at = 0; at < names.length; at += removedAtOnce)
        await Promise.all(names.slice(at, at + removedAtOnce).map((name) => store.delete(name)));
    },
    list: () => listBlobs(store),
    close: store.close,
  };
}

async function writeBody(
  file: FileHandle,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<number> {
  const writer = createFileWriter(file);
  let bytes = 0;
  for await (const chunk of body) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (!writer.write(chunk)) await writer.flush();
  }
  await writer.finish();
  signal.throwIfAborted();
  return bytes;
}

async function* readFrom(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const buffer = Buffer.allocUnsafe(Math.min(readBytes, to - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw new Error("a scratch file is shorter than what was written to it");
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* readBlob(
  store: ObjectStore,
  name: string,
  { sizeBytes, signal }: { sizeBytes?: number; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  try {
    const found = await store.get(name, { signal, ...(sizeBytes !== undefined && { sizeBytes }) });
    if (!found) throw unreadable();
    for await (const chunk of found.bytes) {
      signal.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    if (isObjectStoreError(error)) throw unreadable(error);
    throw error;
  }
}

async function listBlobs(store: ObjectStore): Promise<StoredBlob[]> {
  // Parts of what a killed process was sending are not objects, and cost as much.
  await store.abortAbandonedUploads({ before: new Date(Date.now() - abandonedMs) });
  const found: StoredBlob[] = [];
  for await (const { key, sizeBytes: size, modifiedAt } of store.list("sub-")) {
    // One whose age is unknown is never old enough to be swept.
    if (/^sub-[0-9a-f]{24}\/(part|index)-[0-9a-f]{16}$/.test(key))
      found.push({ name: key, size, modifiedAt: modifiedAt?.getTime() ?? Number.POSITIVE_INFINITY });
  }
  return found;
}

function unreadable(cause?: Error): Fault {
  return new Fault("unavailable", { message: "A stored part of this context cannot be read.", cause });
}

function asStoreFault(signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    signal.throwIfAborted();
    if (!isObjectStoreError(error)) throw error;
    throw new Fault(isObjectStoreError(error, "full") ? "uploads_full" : "uploads_store_unavailable", {
      cause: error,
    });
  };
}
