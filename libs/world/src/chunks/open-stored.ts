// An archive of the archive folder, in whichever form it is there. A whole file comes first: where both are there, it was
// brought back because the other one is damaged.

import { isWorldFault } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import type { Folder } from "../path/folder.ts";
import { openChunks } from "./chunk-file.ts";
import { readManifest } from "./manifest.ts";

/**
 * Close it. `isCompared`: whoever receives all of it compares its digest, so damage goes through as from a whole file. Throws
 * `not_found` when it is there in neither form, `backup_corrupt`, `bad_path`.
 */
export async function openStored(
  folder: Folder,
  archive: string,
  about?: { isCompared: boolean },
): Promise<ArchiveFile> {
  const whole = await openIfThere(folder, archive);
  if (whole) return whole;
  try {
    const manifest = await readManifest(folder, archive);
    return openChunks(await folder.duplicate(), manifest, about);
  } catch (error) {
    // A copy that was brought back took its place a moment ago.
    const late = isWorldFault(error, "not_found") ? await openIfThere(folder, archive) : undefined;
    if (late) return late;
    throw error;
  }
}

async function openIfThere(folder: Folder, archive: string): Promise<ArchiveFile | undefined> {
  try {
    return await folder.openFile(archive);
  } catch (error) {
    if (isWorldFault(error, "not_found")) return undefined;
    throw error;
  }
}
