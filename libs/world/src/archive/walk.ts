// Walks a world for an archive: folders before what is in them, names in order, so the same world gives the same tar.

import type { Stats } from "node:fs";
import type { Folder } from "../path/folder.ts";
import { isHidden } from "../path/parse.ts";
import { SourceFile } from "../path/source-file.ts";

const deepest = 200;
/** What file systems keep at their root for themselves. */
export const lostAndFound = "lost+found";

export type Found = { path: string; stats: Stats } & (
  | { kind: "folder" }
  | { kind: "file"; file: SourceFile }
  /** A link, a device, a pipe or a socket: no archive holds it. */
  | { kind: "other" }
);

export type WalkOptions = {
  signal?: AbortSignal | undefined;
  /** False for a folder below the root, where `lost+found` is a name like any other. */
  isWhole?: boolean;
};

/** Everything under a folder except our partials and the file system's `lost+found`; files come open. */
export async function* walk(root: Folder, options: WalkOptions = {}): AsyncGenerator<Found> {
  yield* walkIn(root, { prefix: "", depth: 0, ...options });
}

type Place = WalkOptions & { prefix: string; depth: number };

async function* walkIn(folder: Folder, place: Place): AsyncGenerator<Found> {
  if (place.depth > deepest) throw new Error(`${place.prefix} lies deeper than ${deepest} folders`);
  for (const { name, kind } of await folder.list()) {
    place.signal?.throwIfAborted();
    if (isNotOfWorld(name, place)) continue;
    const path = `${place.prefix}${name}`;
    if (kind === "folder") {
      await using inner = await folder.enter(name);
      yield { path, kind, stats: await inner.stat() };
      yield* walkIn(inner, { ...place, prefix: `${path}/`, depth: place.depth + 1 });
    } else if (kind === "file") {
      await using file = SourceFile.open(folder, name, path);
      yield { path, kind, file, stats: file.stats };
    } else {
      const stats = await folder.find(name);
      if (stats) yield { path, kind, stats };
    }
  }
}

/** Our partials lie at the root of a world; the same name deeper down is a player's or a plugin's. */
function isNotOfWorld(name: string, { depth, isWhole = true }: Place): boolean {
  return isWhole && depth === 0 && (isHidden(name) || name === lostAndFound);
}

export type Measured = { files: number; entries: number; bytes: number };

/** Counts what an archive of a folder would hold. A file that goes meanwhile does not count. */
export async function measure(root: Folder, options: WalkOptions = {}): Promise<Measured> {
  const measured: Measured = { files: 0, entries: 0, bytes: 0 };
  await measureIn(root, measured, { prefix: "", depth: 0, ...options });
  return measured;
}

async function measureIn(folder: Folder, measured: Measured, place: Place): Promise<void> {
  for (const { name, kind } of await folder.list()) {
    place.signal?.throwIfAborted();
    if (kind === "other" || isNotOfWorld(name, place)) continue;
    measured.entries += 1;
    if (kind === "file") {
      const stats = await folder.find(name);
      measured.files += 1;
      measured.bytes += stats?.size ?? 0;
      continue;
    }
    await using inner = await folder.enter(name);
    await measureIn(inner, measured, { ...place, prefix: `${place.prefix}${name}/`, depth: place.depth + 1 });
  }
}
