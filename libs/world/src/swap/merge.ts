// Lays a new tree over a folder of the world, file by file; what is not in the new tree stays. Carried on by a next run,
// it goes forward only. Within one run it can be taken back.

import { link } from "node:fs/promises";
import { errnoOf, isWorldFault, WorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";

type Merge = { fresh: Folder; base: Folder; replaced: Folder };
/** Takes one step back. */
type Undo = () => Promise<void>;

/** Moves everything in `fresh` into `base`. Throws after it has taken all of it back. */
export async function mergeForward(merge: Merge): Promise<void> {
  const undo: Undo[] = [];
  try {
    await mergeFolder(merge, { path: [], undo });
  } catch (error) {
    try {
      for (const step of undo.reverse()) await step();
    } catch (second) {
      throw new AggregateError([error, second], "the files could not be put back after a failure");
    }
    throw error;
  }
}

type Way = { path: string[]; undo: Undo[] };

async function mergeFolder(merge: Merge, way: Way): Promise<void> {
  await using from = await merge.fresh.descend(way.path);
  await using to = await merge.base.descend(way.path);
  for (const { name, kind } of await from.list()) {
    const there = await to.find(name);
    const path = [...way.path, name];
    if (!there) {
      await from.move(name, { folder: to, name });
      way.undo.push(() => moveBetween(path, { from: merge.base, to: merge.fresh }));
    } else if (kind === "folder" && there.isDirectory()) {
      await mergeFolder(merge, { ...way, path });
    } else if (kind === "folder" || there.isDirectory()) {
      throw new WorldFault("type_conflict", `${path.join("/")} is a folder on one side only.`, {
        entry: path.join("/"),
      });
    } else {
      await replaceFile(merge, { ...way, path, from, to, isFile: there.isFile() });
    }
  }
  await to.sync();
}

async function replaceFile(
  merge: Merge,
  way: Way & { from: Folder; to: Folder; isFile: boolean },
): Promise<void> {
  const { path, from, to, isFile } = way;
  const name = path.at(-1) ?? "";
  const kept = path.join("/").replaceAll("%", "%25").replaceAll("/", "%2F");
  const slot = await keepSlot(merge.replaced, { from: to, name, kept, isFile });
  await from.move(name, { folder: to, name });
  way.undo.push(async () => {
    await using outer = await merge.base.descend(path.slice(0, -1));
    await moveBetween(path, { from: merge.base, to: merge.fresh });
    await merge.replaced.move(slot, { folder: outer, name });
  });
}

type Old = { from: Folder; name: string; kept: string; isFile: boolean };

/** A second name for the old file, so that it can come back; the first keeps it there until the new one is. */
async function keepSlot(replaced: Folder, old: Old): Promise<string> {
  const slot = Buffer.byteLength(old.kept) <= 200 ? old.kept : `%-${(await replaced.list()).length}`;
  if (!old.isFile) {
    await old.from.move(old.name, { folder: replaced, name: slot });
    return slot;
  }
  await link(old.from.at(old.name), replaced.at(slot)).catch((error: unknown) => {
    // An earlier run came as far as this.
    if (errnoOf(error) !== "EEXIST") throw error;
  });
  return slot;
}

async function moveBetween(path: string[], { from, to }: { from: Folder; to: Folder }): Promise<void> {
  const name = path.at(-1) ?? "";
  await using source = await from.descend(path.slice(0, -1));
  await using target = await to.descend(path.slice(0, -1));
  await source.move(name, { folder: target, name }).catch((error: unknown) => {
    if (!isWorldFault(error, "not_found")) throw error;
  });
}
