// Whether an archive and its index tell the same: what a restore finds by the one is what the other holds.

import { type IndexedEntry, readIndex } from "./index-frame.ts";
import { corrupt } from "./tar-header.ts";
import type { ReadEntry } from "./tar-reader.ts";

export type IndexCheck = {
  /** Throws `backup_corrupt` unless the next line of the index is about this entry. */
  next: (entry: ReadEntry) => Promise<void>;
  /** Throws `backup_corrupt` when the index goes on. */
  end: () => Promise<void>;
};

/** Holds the entries of an archive against its index, in order. */
export function checkIndex(content: Buffer): IndexCheck {
  const lines: AsyncGenerator<IndexedEntry, undefined> = readIndex(content);
  return {
    next: async (entry) => {
      const { value } = await lines.next();
      const isSame =
        value?.path === entry.path &&
        value.kind === entry.kind &&
        value.size === entry.size &&
        value.stored === entry.stored &&
        value.headerAt === entry.headerAt;
      if (!isSame) throw corrupt("its index does not fit its entries");
    },
    end: async () => {
      if (!(await lines.next()).done) throw corrupt("its index holds more than it");
    },
  };
}
