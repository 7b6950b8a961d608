import type { FileHandle } from "node:fs/promises";
import { freeWhole } from "../buffer-release.ts";

type FileWriter = {
  /** Takes a chunk, and frees its memory once it is written. When it returns false, wait for `flush` before the next one. */
  write: (chunk: Uint8Array) => boolean;
  flush: () => Promise<void>;
  /** Resolves when everything is written; the last bytes are not synced yet. */
  finish: () => Promise<void>;
};

const batchBytes = 1 << 20;
const syncEveryBytes = 8 << 20;

/**
 * Appends to a file while the next bytes arrive, in batches, and syncs what is written, so that the sync at the end has
 * little left to do. Every failure is thrown by a later call.
 */
export function createFileWriter(file: FileHandle): FileWriter {
  let [held, heldBytes]: [Uint8Array[], number] = [[], 0];
  let writing: Promise<void> = Promise.resolve();
  let [syncing, unsyncedBytes]: [Promise<void>, number] = [Promise.resolve(), 0];
  const flush = async () => {
    await writing;
    writing = writeAllOf(file, held);
    // Awaited before the next one; until then a rejection must not count as unhandled.
    writing.catch(() => {});
    unsyncedBytes += heldBytes;
    [held, heldBytes] = [[], 0];
    if (unsyncedBytes < syncEveryBytes) return;
    // A failed disk reports its error only once, so every result counts.
    await syncing;
    unsyncedBytes = 0;
    syncing = writing.then(() => file.datasync());
    syncing.catch(() => {});
  };
  return {
    write: (chunk) => {
      held.push(chunk);
      heldBytes += chunk.length;
      return heldBytes < batchBytes;
    },
    flush,
    finish: async () => {
      await flush();
      await Promise.all([writing, syncing]);
    },
  };
}

async function writeAllOf(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  let left = [...pieces];
  while (left.length > 0) {
    let { bytesWritten } = await file.writev(left);
    while (left.length > 0 && bytesWritten >= (left[0]?.length ?? 0)) {
      bytesWritten -= left.shift()?.length ?? 0;
    }
    const [first, ...rest] = left;
    if (first) left = [first.subarray(bytesWritten), ...rest];
  }
  pieces.forEach(freeWhole);
}
