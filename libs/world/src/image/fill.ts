// Puts the files of an image into the volume of a server. What the volume has is never touched: a world belongs to its
// players from the moment it is there (docs/reference/images.md#bases).

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { isWorldFault } from "../fault.ts";
import { explain, Folder } from "../path/folder.ts";
import { hiddenPrefix } from "../path/parse.ts";
import { syncVolume } from "../path/sync-volume.ts";

const stagingPrefix = `${hiddenPrefix}image-`;

/**
 * Copies each name of the folder `source` that the volume lacks, whole or not at all, also when it is killed; returns those
 * names. Nobody else may be using the volume.
 */
export async function fillVolume(source: string, volume: string): Promise<string[]> {
  await using root = await Folder.openRoot(volume);
  await using content = await Folder.openRoot(source);
  const present = new Set((await root.list()).map(({ name }) => name));
  for (const name of present) {
    if (name.startsWith(stagingPrefix)) await rm(root.at(name), { recursive: true, force: true });
  }
  const missing = (await content.list()).map(({ name }) => name).filter((name) => !present.has(name));
  if (missing.length === 0) return [];
  const staging = `${stagingPrefix}${randomBytes(8).toString("hex")}`;
  try {
    await root.makeFolder(staging, 0o700);
    return await moveIn(root, { staging, missing, content });
  } catch (error) {
    throw explain(error, "the volume");
  } finally {
    await rm(root.at(staging), { recursive: true, force: true });
  }
}

type Filling = { staging: string; missing: readonly string[]; content: Folder };

async function moveIn(root: Folder, { staging, missing, content }: Filling): Promise<string[]> {
  await using staged = await root.enter(staging);
  for (const name of missing) {
    // Copies share their blocks with the original where the file system can do that.
    const options = { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE };
    await cp(String(content.at(name)), String(staged.at(name)), options);
  }
  await syncVolume(root);
  const moved: string[] = [];
  for (const name of missing) {
    try {
      await staged.moveToFree(name, { folder: root, name });
      moved.push(name);
    } catch (error) {
      if (!isWorldFault(error, "file_exists")) throw error;
    }
  }
  await root.sync();
  return moved;
}
