// A zip whose entries are read one by one, without a world to unpack it into.

import type { FileHandle } from "node:fs/promises";
import { isSmall, isTiny, readLarge, readSmall, readTiny } from "./content.ts";
import { readZip, type ZipEntry } from "./read.ts";

export type OpenZip = {
  /** Checked: safe paths, none twice, no links, nothing overlaps. */
  entries: readonly ZipEntry[];
  /** The content of a file, with its size and checksum verified at the latest at its end. Throws `archive_invalid`. */
  content: (entry: ZipEntry) => AsyncGenerator<Buffer>;
};

/** Throws as `readZip`, also for more than `mostEntries` entries. */
export async function openZip(file: FileHandle, mostEntries: number): Promise<OpenZip> {
  const { entries } = await readZip(file, mostEntries);
  return { entries, content: (entry) => contentOf(file, entry) };
}

async function* contentOf(file: FileHandle, entry: ZipEntry): AsyncGenerator<Buffer> {
  if (isTiny(entry)) yield readTiny(file, entry);
  else if (isSmall(entry)) yield await readSmall(file, entry);
  else yield* readLarge(file, entry);
}
