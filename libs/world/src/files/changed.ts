// Which plugins, mods and configuration changed since a good start (docs/reference/crashes.md#safe-start).

import type { AsideFile, Since } from "@svc/proto/world-task";
import type { Folder } from "../path/folder.ts";
import { findProtected, isForwarding } from "../path/protect.ts";
import { visit } from "../path/visit.ts";

/** Times of a file, and when its top folder was made; Unix milliseconds, 0 where the file system does not tell. */
export type FileTimes = { mtimeMs: number; ctimeMs: number; folderBornMs: number };

type Found = { files: AsideFile[]; isTruncated: boolean };

/** What the server loads from its root. */
const codeFolders = ["plugins", "mods"] as const;
/** Plugins that the server installs at its next start lie here. */
const updateFolder = "update";
const configFolder = "config";
/** A plugin may keep a map of the world in its folder: files that are looked at before the rest is left out. */
const mostVisited = 100_000;

/**
 * Whether a file changed since then. A move or a rename keeps the time of the content, so the time of the entry counts too,
 * unless all of the folder is newer, as after a restore or a move of the world.
 */
export function changedAt({ mtimeMs, ctimeMs, folderBornMs }: FileTimes, since: number): number {
  const isOldFolder = folderBornMs > 0 && folderBornMs <= since;
  return isOldFolder ? Math.max(mtimeMs, ctimeMs) : mtimeMs;
}

/** What a server runs counts whenever it changed. */
export function isCodeChanged(times: FileTimes, { at }: Since): boolean {
  return changedAt(times, at) > at;
}

/** Servers write configuration themselves, so only what changed while it was stopped counts. */
export function isConfigChanged(times: FileTimes, { at, rests }: Since): boolean {
  const changed = changedAt(times, at);
  return changed > at && rests.some(({ from, to }) => changed > from && changed < to);
}

/** At most `most` files and one more; `isTruncated` when not all was looked at. */
export async function findChanged(world: Folder, since: Since, most: number): Promise<Found> {
  const found: AsideFile[] = [];
  let isTruncated = false;
  for (const top of codeFolders) await findCode(world, { top, since, found });
  for (const top of [codeFolders[0], configFolder])
    isTruncated = (await findConfig(world, { top, since, found, most })) || isTruncated;
  found.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { files: found.slice(0, most + 1), isTruncated };
}

type Search = { top: string; since: Since; found: AsideFile[] };

async function findCode(world: Folder, { top, since, found }: Search): Promise<void> {
  const born = await folderBorn(world, top);
  if (born === undefined) return;
  await using folder = await world.enter(top);
  await addJars(folder, { prefix: top, born, since, found });
  if (!(await folder.find(updateFolder))?.isDirectory()) return;
  await using update = await folder.enter(updateFolder);
  await addJars(update, { prefix: `${top}/${updateFolder}`, born, since, found });
}

type Jars = { prefix: string; born: number; since: Since; found: AsideFile[] };

async function addJars(folder: Folder, { prefix, born, since, found }: Jars): Promise<void> {
  for (const { name, kind } of await folder.list()) {
    if (kind !== "file" || !/\.jar$/i.test(name) || !name.isWellFormed()) continue;
    const stats = await folder.find(name);
    if (stats?.isFile() && isCodeChanged({ ...stats, folderBornMs: born }, since))
      found.push(fileOf(`${prefix}/${name}`, stats));
  }
}

/** True when there was too much to look at. */
async function findConfig(
  world: Folder,
  { top, since, found, most }: Search & { most: number },
): Promise<boolean> {
  const born = await folderBorn(world, top);
  if (born === undefined) return false;
  const known = await findProtected(world);
  const isPlugins = top !== configFolder;
  await using folder = await world.enter(top);
  let visited = 0;
  // The jars of plugins are looked at on their own; what begins with a dot, a server makes for itself.
  const isIn = ({ name, kind }: { name: string; kind: string }, depth: number) =>
    !name.startsWith(".") && !(isPlugins && depth === 0 && (kind === "file" || name === updateFolder));
  for await (const { name, path, folder: inner, kind } of visit(folder, { isIn })) {
    visited += 1;
    if (visited > mostVisited || found.length > most) return true;
    if (kind !== "file" || !path.isWellFormed()) continue;
    const stats = await inner.find(name);
    if (!stats?.isFile() || isForwarding(known, stats)) continue;
    if (isConfigChanged({ ...stats, folderBornMs: born }, since)) found.push(fileOf(`${top}/${path}`, stats));
  }
  return false;
}

/** When a folder of the root was made; undefined when there is none. */
async function folderBorn(world: Folder, name: string): Promise<number | undefined> {
  const stats = await world.find(name);
  return stats?.isDirectory() ? stats.birthtimeMs : undefined;
}

export function fileOf(path: string, { size, mtimeMs }: { size: number; mtimeMs: number }): AsideFile {
  return { path, size, mod_time: new Date(mtimeMs).toISOString() };
}
