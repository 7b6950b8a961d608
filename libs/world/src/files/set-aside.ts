// Sets aside what changed since a good start, and puts it back (docs/reference/crashes.md#safe-start). Each file is moved in
// one step of the file system, so whatever dies, it is in its place or in its set; the set is its own record.

import { type AsideFile, type AsideSet, type Since, setName } from "@svc/proto/world-task";
import { WorldFault } from "../fault.ts";
import { type Folder, setFolderAttributes } from "../path/folder.ts";
import { assertMovable, assertWritable, findProtected, type Protected } from "../path/protect.ts";
import { visit } from "../path/visit.ts";
import { fileOf, findChanged } from "./changed.ts";

/** Below the root of the world, outside of what servers load. */
const setsFolder = [".svc", "set-aside"] as const;
/** What may lie in a set: whoever may write elsewhere below it brings nothing to other places of the world with it. */
const tops: ReadonlySet<string> = new Set(["plugins", "mods", "config"]);
/** Sets that are listed, the newest. */
const mostSets = 10;

type Aside = { id: string; since: Since; most: number };

/** Moves what changed into the set `id`; none when nothing did. Throws `too_large` for more than `most` files. */
export async function setAside(world: Folder, { id, since, most }: Aside): Promise<AsideFile[]> {
  const { files, isTruncated } = await findChanged(world, since, most);
  if (files.length > most || isTruncated)
    throw new WorldFault(
      "too_large",
      `More than ${most} files have changed, or there are too many to look at; restore a backup instead.`,
    );
  if (files.length === 0) return [];
  const known = await findProtected(world);
  for (const { path } of files)
    await move(world, { from: namesOf(path), to: [...setsFolder, id, ...namesOf(path)], known });
  return files;
}

/** Moves a set back. Throws `not_found`, and `file_exists` before anything is moved when something is in the way. */
export async function putBack(world: Folder, id: string, most: number): Promise<AsideFile[]> {
  const set = await readSet(world, id, most);
  if (!set) throw new WorldFault("not_found", `There is no set ${id}; it may be back in place.`);
  if (set.files.length > most)
    throw new WorldFault("too_large", `The set ${id} has more than ${most} files; move them by hand.`);
  const known = await findProtected(world);
  const conflicts: string[] = [];
  for (const { path } of set.files) {
    assertWritable(known, namesOf(path));
    if (await isTaken(world, namesOf(path))) conflicts.push(path);
  }
  if (conflicts.length > 0)
    throw new WorldFault(
      "file_exists",
      `${conflicts[0]} is there again${conflicts.length > 1 ? `, and ${conflicts.length - 1} more` : ""}; delete or rename it first.`,
      { entry: conflicts[0], conflicts: conflicts.slice(0, 200), conflict_count: conflicts.length },
    );
  for (const { path } of set.files)
    await move(world, { from: [...setsFolder, id, ...namesOf(path)], to: namesOf(path), known });
  await removeEmptyFolders(world, [...setsFolder, id]);
  return set.files;
}

/** The sets of a world, the newest first, each with at most `most` files and one more. */
export async function listSets(world: Folder, most: number): Promise<AsideSet[]> {
  await using folder = await findFolder(world, setsFolder);
  if (!folder) return [];
  const names = (await folder.list()).filter(({ name, kind }) => kind === "folder" && setName.test(name));
  const sets: AsideSet[] = [];
  for (const { name } of names.reverse().slice(0, mostSets)) {
    const set = await readSet(world, name, most);
    if (set && set.files.length > 0) sets.push(set);
  }
  return sets;
}

async function readSet(world: Folder, id: string, most: number): Promise<AsideSet | undefined> {
  await using folder = await findFolder(world, [...setsFolder, id]);
  if (!folder) return undefined;
  const files: AsideFile[] = [];
  for await (const { name, path, folder: inner, kind } of visit(folder)) {
    if (files.length > most) break;
    if (kind !== "file" || !path.isWellFormed() || !tops.has(path.split("/")[0] ?? "")) continue;
    const stats = await inner.find(name);
    if (stats) files.push(fileOf(path, stats));
  }
  return { id, files };
}

type Move = { from: readonly string[]; to: readonly string[]; known: Protected };

/** Never replaces: under the lock of the world nobody else writes between the check and the move. */
async function move(world: Folder, { from, to, known }: Move): Promise<void> {
  const [source, target] = [splitLast(from), splitLast(to)];
  await using outer = await world.descend(source.parents);
  const stats = await outer.find(source.name);
  if (!stats) throw new WorldFault("not_found", `${from.join("/")} does not exist.`);
  assertMovable(known, stats);
  await using inner = await makeFolders(world, target.parents);
  if (await inner.find(target.name))
    throw new WorldFault("file_exists", `${to.join("/")} already exists.`, { entry: to.join("/") });
  await outer.move(source.name, { folder: inner, name: target.name });
  await inner.sync();
  await outer.sync();
}

/** Opens a folder below the root; makes those that are missing as their parents are. */
async function makeFolders(world: Folder, names: readonly string[]): Promise<Folder> {
  let current = await world.duplicate();
  for (const name of names) {
    const outer = current;
    try {
      if (!(await outer.find(name))) {
        await outer.makeFolder(name);
        await setFolderAttributes(outer, name, await outer.stat());
        await outer.sync();
      }
      current = await outer.enter(name);
    } finally {
      await outer.close();
    }
  }
  return current;
}

/** Undefined when there is none. Throws `bad_path` at a link. */
async function findFolder(world: Folder, names: readonly string[]): Promise<Folder | undefined> {
  let current = await world.duplicate();
  for (const name of names) {
    const outer = current;
    try {
      if (!(await outer.find(name))) return undefined;
      current = await outer.enter(name);
    } finally {
      await outer.close();
    }
  }
  return current;
}

/** Whether a file cannot be put here: its name is taken, or something other than a folder stands in the way. */
async function isTaken(world: Folder, names: readonly string[]): Promise<boolean> {
  const { parents, name } = splitLast(names);
  let current = await world.duplicate();
  try {
    for (const parent of parents) {
      const stats = await current.find(parent);
      if (!stats) return false;
      if (!stats.isDirectory()) return true;
      const outer = current;
      current = await outer.enter(parent);
      await outer.close();
    }
    return (await current.find(name)) !== undefined;
  } finally {
    await current.close();
  }
}

/** Removes a folder and its empty folders, and those above it that are empty then; what somebody else put there stays. */
async function removeEmptyFolders(world: Folder, names: readonly string[]): Promise<void> {
  const inner: string[][] = [];
  {
    await using folder = await findFolder(world, names);
    if (!folder) return;
    for await (const { path, kind } of visit(folder)) if (kind === "folder") inner.push(namesOf(path));
  }
  const below = inner.reverse().map((path) => [...names, ...path]);
  const above = names.map((_, index) => names.slice(0, names.length - index));
  for (const path of [...below, ...above]) {
    const { parents, name } = splitLast(path);
    await using folder = await world.descend(parents);
    try {
      await folder.removeEmpty(name);
    } catch {
      // Not empty: it stays, and so do those above it.
    }
  }
  await world.sync();
}

function splitLast(names: readonly string[]): { parents: string[]; name: string } {
  return { parents: names.slice(0, -1), name: names.at(-1) ?? "" };
}

function namesOf(path: string): string[] {
  return path.split("/");
}
