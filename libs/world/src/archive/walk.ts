// Walks a world for an archive: folders before what is in them, names in order, so the same world gives the same tar. Entries
// that a tar cannot hold are reported with the reason and skipped.

import type { Stats } from "node:fs";
import { allocatedBytes, type Extent, mayHaveHoles, mostUnseenHoleBytes } from "../path/extents.ts";
import type { Folder, FolderEntry } from "../path/folder.ts";
import { longPathBytes, mostLongPathBytes, mostPathBytes } from "../path/limits.ts";
import { lostAndFound } from "../path/lost-and-found.ts";
import { encodeName, whyNoEntry } from "../path/name.ts";
import { isHidden } from "../path/parse.ts";
import { SourceFile } from "../path/source-file.ts";
import { syncVolume } from "../path/sync-volume.ts";
import { isUnreadable, type Visited, visit } from "../path/visit.ts";
import { findExtents } from "./find-extents.ts";

/**
 * Why something is in no archive: `special` for a link, a device, a pipe or a socket; `too_long` for a path or a name over
 * the limits, a folder with all that is in it; `unreadable` for what we have no right to read; `holes` for a file that is
 * nearly all holes where nothing finds them.
 */
export type SkipReason = "special" | "too_long" | "unreadable" | "holes";

export type Found = { path: string } & (
  | { kind: "folder"; stats: Stats }
  | {
      kind: "file";
      stats: Stats;
      file: SourceFile;
      /** Only for a sparse file: where its data lies. */
      extents?: Extent[] | undefined;
    }
  | { kind: "skipped"; reason: SkipReason }
);

type WalkOptions = {
  signal?: AbortSignal | undefined;
  /** False for a folder below the root, where `lost+found` is a name like any other. */
  isWhole?: boolean;
};

/** Everything under a folder except our partials and the file system's `lost+found`; files come open. */
export async function* walk(root: Folder, options: WalkOptions = {}): AsyncGenerator<Found> {
  let isSynced = false;
  for await (const visited of pass(root, options)) {
    const { path, kind } = visited;
    if (kind === "skipped") yield visited;
    else if (kind === "folder") yield { path, kind, stats: visited.stats };
    else {
      const file = openSource(visited);
      if (!file) {
        yield { path, kind: "skipped", reason: "unreadable" };
        continue;
      }
      await using opened = file;
      const { stats } = opened;
      if (!mayHaveHoles(stats)) {
        yield { path, kind, file: opened, stats };
        continue;
      }
      if (!isSynced) await syncVolume(root);
      isSynced = true;
      const found = await findExtents(opened);
      const isSeen = found !== "unknown" || stats.size - allocatedBytes(stats) <= mostUnseenHoleBytes;
      if (!isSeen || !Number.isSafeInteger(stats.size)) yield { path, kind: "skipped", reason: "holes" };
      else yield { path, kind, file: opened, stats, extents: found === "unknown" ? undefined : found };
    }
  }
}

function openSource({ folder, name, path }: { folder: Folder; name: string; path: string }) {
  try {
    return SourceFile.open(folder, name, path);
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

type Passed =
  | { path: string; kind: "folder"; stats: Stats }
  | { path: string; kind: "file"; folder: Folder; name: string }
  | { path: string; kind: "skipped"; reason: SkipReason };

/** As `walk`, files unopened. */
async function* pass(root: Folder, { signal, isWhole = true }: WalkOptions): AsyncGenerator<Passed> {
  const fits = pathBudget();
  const isIn = ({ name }: FolderEntry, depth: number) => !isWhole || depth > 0 || !isNotOfWorld(name);
  for await (const visited of visit(root, { signal, isIn, mayEnter: fits })) {
    const { path, kind, name, folder } = visited;
    if (kind === "folder") yield { path, kind, stats: visited.stats };
    else if (kind === "file" && fits(path)) yield { path, kind, folder, name };
    else yield { path, kind: "skipped", reason: reasonOf(visited) };
  }
}

function reasonOf(visited: Visited): SkipReason {
  if (visited.kind === "other") return "special";
  return visited.kind === "closed" && visited.isUnreadable ? "unreadable" : "too_long";
}

/** Asked for each path once, in order: the same world leaves out the same. */
function pathBudget(): (path: string) => boolean {
  let left = mostLongPathBytes;
  return (path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (whyNoEntry(name) !== undefined) return false;
    if (path.length * 3 <= longPathBytes) return true;
    const bytes = path.isWellFormed() ? Buffer.byteLength(path) : encodeName(path).length;
    if (bytes <= longPathBytes) return true;
    if (bytes > mostPathBytes || bytes > left) return false;
    left -= bytes;
    return true;
  };
}

/** Our partials lie at the root of a world; the same name deeper down is a player's or a plugin's. */
function isNotOfWorld(name: string): boolean {
  return isHidden(name) || name === lostAndFound;
}

type Measured = {
  files: number;
  entries: number;
  bytes: number;
  /** Of these, what is on the disk and no hole. */
  allocated: number;
};

/**
 * Counts what an archive of a folder would hold. A file that goes meanwhile does not count; one that cannot be read does,
 * for only who opens it knows.
 */
export async function measure(root: Folder, options: WalkOptions = {}): Promise<Measured> {
  const measured: Measured = { files: 0, entries: 0, bytes: 0, allocated: 0 };
  for await (const passed of pass(root, options)) {
    if (passed.kind === "skipped" && passed.reason !== "unreadable") continue;
    measured.entries += 1;
    if (passed.kind !== "file") continue;
    measured.files += 1;
    const stats = await statsOf(passed);
    measured.bytes += stats?.size ?? 0;
    measured.allocated += stats ? allocatedBytes(stats) : 0;
  }
  return measured;
}

async function statsOf({ folder, name }: { folder: Folder; name: string }): Promise<Stats | undefined> {
  try {
    return await folder.find(name);
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}
