// Checks that an archive and its index agree.

import { compared } from "./digests.ts";
import { type ArchiveIndex, type IndexedEntry, readIndex } from "./index-frame.ts";
import { corrupt } from "./tar-header.ts";
import type { ReadEntry } from "./tar-reader.ts";

type IndexCheck = {
  /**
   * The same entry, whose content is compared with its digest when it is read to its end. Throws `backup_corrupt` unless the
   * next line of the index describes it.
   */
  next: (entry: ReadEntry) => Promise<ReadEntry>;
  /** Throws `backup_corrupt` when the index has more lines. */
  end: () => Promise<void>;
};

/** Compares the entries of an archive with its index, in order. */
export function checkIndex(index: ArchiveIndex): IndexCheck {
  const lines: AsyncGenerator<IndexedEntry, undefined> = readIndex(index);
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
      return withDigest(entry, value.digest);
    },
    end: async () => {
      if (!(await lines.next()).done) throw corrupt("its index has more entries than the archive");
    },
  };
}

/** The entry, whose content is compared with a digest when it is read to its end. */
export function withDigest(entry: ReadEntry, digest: Buffer | undefined): ReadEntry {
  if (!digest) return entry;
  const { path, size } = entry;
  return { ...entry, content: () => compared(entry.content(), { path, size, digest }) };
}
