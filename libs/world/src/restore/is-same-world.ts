// Whether a world is still identical to an archive.

import type { Archive } from "../archive/open.ts";
import { measure } from "../archive/walk.ts";
import type { Folder } from "../path/folder.ts";
import { compareTree } from "./compare.ts";

/** `held` are the counts of the archive. A world that can't be read whole is not the same. */
export async function isSameWorld(
  world: Folder,
  archive: Archive,
  held: { entries: number; files: number; bytes: number },
): Promise<boolean> {
  try {
    const { entries, files, bytes } = await measure(world);
    if (entries !== held.entries || files !== held.files || bytes !== held.bytes) return false;
    await compareTree(world, archive);
    return true;
  } catch {
    return false;
  }
}
