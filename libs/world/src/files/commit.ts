// Commits one file: a synced partial at the root of the world, then one rename. Nothing changes before the rename.

import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { WorldFault } from "../fault.ts";
import { dress, explain, type Folder } from "../path/folder.ts";
import { hiddenPrefix } from "../path/parse.ts";

type Commit = {
  world: Folder;
  folder: Folder;
  name: string;
  /** The existing file; its mode and owner are kept. */
  there: Stats | undefined;
  /** Fails if the name has come to exist meanwhile. */
  isNew: boolean;
  size: number;
};

const freshMode = 0o644;

/** `fill` writes the content. Throws `volume_full`, `file_exists`, and what `fill` throws, all with the world unchanged. */
export async function commitFile(commit: Commit, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const { world, folder, name, there, size } = commit;
  const avail = await world.freeBytes();
  if (avail !== undefined && avail < size) throw volumeFull(size, avail);
  const partial = `${hiddenPrefix}write-${randomBytes(8).toString("hex")}`;
  try {
    {
      await using file = await world.createFile(partial, 0o600);
      await fill(file);
      await dress(file, { mode: (there?.mode ?? freshMode) & 0o777, owner: there ?? (await folder.stat()) });
      await file.sync();
    }
    if (commit.isNew) await world.moveToFree(partial, { folder, name });
    else await world.move(partial, { folder, name });
  } catch (error) {
    await world.removeFile(partial).catch(() => undefined);
    const explained = explain(error, name);
    if (explained instanceof WorldFault && explained.fault.code === "volume_full")
      throw volumeFull(size, (await world.freeBytes()) ?? 0);
    throw explained;
  }
  await folder.sync();
}

function volumeFull(need: number, avail: number): WorldFault {
  return new WorldFault("volume_full", "The world volume has no space for this file. Nothing was changed.", {
    need,
    avail,
  });
}
