// Verifies an archive by reading it to its end.

import { checkIndex } from "./index-check.ts";
import type { Archive, ReadOptions } from "./open.ts";
import { corrupt } from "./tar-header.ts";
import { type ReadEntry, readTar } from "./tar-reader.ts";
import { Tree } from "./tree.ts";

type Verified = { sizeBytes: number; sha256: string; entries: number; files: number; bytes: number };

type VerifyOptions = ReadOptions & {
  /** The digest that the archive must have. */
  sha256?: string | undefined;
  onEntry?: ((entry: ReadEntry) => void) | undefined;
};

/**
 * Checks checksums, structure, index and digests, that of each file and that of the whole: what reads back is what a restore takes. Throws `backup_corrupt`, and as
 * `readTar` and `Tree` for what no world may hold.
 */
export async function verifyArchive(archive: Archive, options: VerifyOptions = {}): Promise<Verified> {
  const { plain, sha256 } = archive.readAll(options);
  const counted = { entries: 0, files: 0, bytes: 0 };
  const index = archive.seek && checkIndex(await archive.seek.index());
  const tree = new Tree();
  for await (const entry of readTar(plain)) {
    tree.add(entry);
    const checked = await index?.next(entry);
    if (checked) for await (const _ of checked.content());
    counted.entries += 1;
    counted.files += entry.kind === "file" ? 1 : 0;
    counted.bytes += entry.size;
    options.onEntry?.(entry);
  }
  await index?.end();
  const digest = sha256();
  if (options.sha256 !== undefined && digest !== options.sha256)
    throw corrupt("its sha256 differs from the one recorded when it was made");
  return { ...counted, sizeBytes: archive.size, sha256: digest };
}
