// Merges a new tree into a folder of the world, file by file; other files stay. A run that fails undoes its steps; a run
// that resumes an interrupted one only goes forward.

import { link } from "node:fs/promises";
import { printable } from "../archive/tar-entry.ts";
import { errnoOf, isWorldFault, WorldFault } from "../fault.ts";
import type { Folder, FolderEntry } from "../path/folder.ts";
import { FolderStack } from "../path/folder-stack.ts";

type Merge = {
  fresh: Folder;
  base: Folder;
  replaced: Folder;
  /** Files of `base` that go, by their names from it. */
  remove: readonly (readonly string[])[];
};
/** Undoes one step. */
type Undo = () => Promise<void>;

/** Moves everything in `fresh` into `base`. Throws after undoing all steps. */
export async function applyMerge(merge: Merge): Promise<void> {
  const undo: Undo[] = [];
  try {
    await mergeTree(merge, undo);
    for (const [index, names] of merge.remove.entries()) await removeFile(merge, { index, names }, undo);
  } catch (error) {
    try {
      for (const step of undo.reverse()) await step();
    } catch (second) {
      throw new AggregateError([error, second], "the merge failed and could not be undone");
    }
    throw error;
  }
}

/** A run that resumes finds it gone. */
async function removeFile(
  { base, replaced }: Merge,
  { index, names }: { index: number; names: readonly string[] },
  undo: Undo[],
): Promise<void> {
  const name = names.at(-1) ?? "";
  await using folder = await base.descend(names.slice(0, -1));
  if (!(await folder.find(name))) return;
  const kept = `%removed-${index}`;
  await folder.move(name, { folder: replaced, name: kept });
  await folder.sync();
  undo.push(async () => {
    await using outer = await base.descend(names.slice(0, -1));
    await replaced.move(kept, { folder: outer, name });
  });
}

type Level = { prefix: string; entries: FolderEntry[]; next: number; isChanged: boolean };

async function mergeTree(merge: Merge, undo: Undo[]): Promise<void> {
  const slots = { next: (await merge.replaced.list()).length };
  await using from = new FolderStack(merge.fresh);
  await using to = new FolderStack(merge.base);
  const levels: Level[] = [{ prefix: "", entries: await merge.fresh.list(), next: 0, isChanged: false }];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    level.next += 1;
    if (!entry) {
      if (level.isChanged) await to.folder.sync();
      levels.pop();
      if (levels.length === 0) return;
      await from.leave();
      await to.leave();
      continue;
    }
    const { name, kind } = entry;
    const path = `${level.prefix}${name}`;
    const there = await to.folder.find(name);
    level.isChanged ||= !there || kind !== "folder";
    if (!there) {
      await from.folder.move(name, { folder: to.folder, name });
      undo.push(() => moveBetween(path, { from: merge.base, to: merge.fresh }));
    } else if (kind === "folder" && there.isDirectory()) {
      await from.enter(name);
      await to.enter(name);
      levels.push({ prefix: `${path}/`, entries: await from.folder.list(), next: 0, isChanged: false });
    } else if (kind === "folder" || there.isDirectory()) {
      throw new WorldFault("type_conflict", `${printable(path)} is a folder on one side only.`, {
        entry: printable(path),
      });
    } else {
      const place = { path, name, from: from.folder, to: to.folder, isFile: there.isFile(), slots };
      undo.push(await replaceFile(merge, place));
    }
  }
}

type Place = {
  path: string;
  name: string;
  from: Folder;
  to: Folder;
  isFile: boolean;
  /** Count of kept old files, which numbers those whose path is too long for a name. */
  slots: { next: number };
};

async function replaceFile(merge: Merge, { path, name, from, to, isFile, slots }: Place): Promise<Undo> {
  // Escaping only makes a path longer, so a long one is not escaped at all.
  const escaped = path.length > 200 ? path : path.replaceAll("%", "%25").replaceAll("/", "%2F");
  const kept = Buffer.byteLength(escaped) <= 200 ? escaped : `%-${slots.next}`;
  if (await keepOld(merge.replaced, { from: to, name, kept, isFile })) slots.next += 1;
  await from.move(name, { folder: to, name });
  return async () => {
    await using outer = await merge.base.descend(path.split("/").slice(0, -1));
    await moveBetween(path, { from: merge.base, to: merge.fresh });
    await merge.replaced.move(kept, { folder: outer, name });
  };
}

type Old = { from: Folder; name: string; kept: string; isFile: boolean };

/**
 * Hard-links the old file, so that the merge can be undone; its first name keeps it in place until the new file takes it.
 * False when an earlier run has already done so.
 */
async function keepOld(replaced: Folder, old: Old): Promise<boolean> {
  if (!old.isFile) {
    await old.from.move(old.name, { folder: replaced, name: old.kept });
    return true;
  }
  try {
    await link(old.from.at(old.name), replaced.at(old.kept));
    return true;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return false;
  }
}

async function moveBetween(path: string, { from, to }: { from: Folder; to: Folder }): Promise<void> {
  const names = path.split("/");
  const name = names.pop() ?? "";
  await using source = await from.descend(names);
  await using target = await to.descend(names);
  await source.move(name, { folder: target, name }).catch((error: unknown) => {
    if (!isWorldFault(error, "not_found")) throw error;
  });
}
