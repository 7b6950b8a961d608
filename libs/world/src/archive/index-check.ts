// Checks that an archive and its index agree.

import { type IndexedEntry, readIndex } from "./index-frame.ts";
import { corrupt } from "./tar-header.ts";
import type { ReadEntry } from "./tar-reader.ts";

type IndexCheck = {
  /** Throws `backup_corrupt` unless the next line of the index describes this entry. */
  next: (entry: ReadEntry) => Promise<void>;
  /** Throws `backup_corrupt` when the index has more lines. */
  end: () => Promise<void>;
};

/** Compares the entries of an archive with its index, in order. */
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
      if (!isSame) throw corrupt("its index does not match its entries");
    },
    end: async () => {
      if (!(await lines.next()).done) throw corrupt("its index has more entries than the archive");
    },
  };
}
