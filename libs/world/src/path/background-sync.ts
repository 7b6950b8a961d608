import type { FileHandle } from "node:fs/promises";

const everyBytes = 8 << 20;

export type BackgroundSync = {
  /** Notes that so many bytes were written. Throws the failure of an earlier sync. */
  wrote: (bytes: number) => Promise<void>;
  finish: () => Promise<void>;
};

/** Syncs what is written to a file while more arrives, so that the sync at the end has little left to do. */
export function createBackgroundSync(file: FileHandle): BackgroundSync {
  let [syncing, unsyncedBytes]: [Promise<void>, number] = [Promise.resolve(), 0];
  return {
    wrote: async (bytes) => {
      unsyncedBytes += bytes;
      if (unsyncedBytes < everyBytes) return;
      // A failed disk reports its error only once, so every result counts.
      await syncing;
      unsyncedBytes = 0;
      syncing = file.datasync();
      // Awaited before the next one; until then a rejection must not count as unhandled.
      syncing.catch(() => {});
    },
    finish: () => syncing,
  };
}
