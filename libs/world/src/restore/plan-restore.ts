// What a restore would change in a world (docs/reference/restore.md#plan): the entries of the archive, without their content,
// against the files that are there. Nothing is written.

import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import type { RestoreChange, RestoreChanges } from "@svc/proto/file-changes";
import type { Archive } from "../archive/open.ts";
import { printable } from "../archive/tar-entry.ts";
import { isWorldFault, WorldFault } from "../fault.ts";
import { splitPath } from "../path/ancestry.ts";
import { Cursor } from "../path/cursor.ts";
import { clampToSafeInteger } from "../path/extents.ts";
import type { Folder, Identity } from "../path/folder.ts";
import { isLostAndFound, lostAndFound } from "../path/lost-and-found.ts";
import { isHidden, parsePath } from "../path/parse.ts";
import { findProtected, isForwarding, type Protected } from "../path/protect.ts";
import { mostForwardingBytes, scrubForwarding } from "../path/scrub.ts";
import { SourceFile } from "../path/source-file.ts";
import { isUnreadable, visit } from "../path/visit.ts";
import { firstOf, type Most } from "./first-of.ts";
import { type Header, headersOf, isWanted } from "./partial-restore.ts";

type Options = {
  /** Files and folders that are laid over the world, as in requests; absent: the whole world is replaced. */
  only?: readonly string[] | undefined;
  most: Most;
  /** What is read of files of which only the content tells whether they change. */
  reading: { bytes: number; timeMs: number };
  /** Monotonic milliseconds. */
  now?: () => number;
  signal?: AbortSignal | undefined;
};

/** Something of the world that is no folder, and where it lies. */
type Present = { path: string; folder: Folder; name: string } & Looks;
type Looks = Identity & { isFile: boolean; size: number; mtimeMs: number };

/**
 * `world`: absent where there is no volume. A file of the same size and time counts as the same; of the same size and another time,
 * its digest tells where the archive has one. Throws `not_found` for a path that is not in the archive, `type_conflict` where a
 * restore of single files would, and `backup_corrupt`.
 */
export async function planRestore(
  world: Folder | undefined,
  archive: Archive,
  options: Options,
): Promise<RestoreChanges> {
  const { files, folders } = await comingFrom(archive, options.only);
  const changes = createChanges();
  if (world) {
    const reader = createReader(await findProtected(world), options);
    const found = options.only ? lookUp(world, { files, folders }) : everythingIn(world, options.signal);
    for await (const present of found) {
      const entry = files.get(present.path);
      if (!entry) {
        changes.remove(present);
        continue;
      }
      files.delete(present.path);
      const verdict = compareFile(entry, await reader.asArchived(present));
      changes.compared(entry, {
        present,
        verdict: verdict === "unknown" ? await reader.read(entry, present) : verdict,
      });
    }
  }
  for (const entry of files.values()) changes.add(entry);
  return changes.end(options.most);
}

type Coming = { files: Map<string, Header>; folders: string[] };

async function comingFrom(archive: Archive, only: readonly string[] | undefined): Promise<Coming> {
  const paths = only?.map((path) => parsePath(path).join("/"));
  const missing = new Set(paths);
  const coming: Coming = { files: new Map(), folders: [] };
  for await (const entry of headersOf(archive)) {
    if (paths ? !isWanted(entry.path, paths) : isLostAndFound(entry.path)) continue;
    for (const path of missing) if (isWanted(entry.path, [path])) missing.delete(path);
    if (entry.kind === "file") coming.files.set(entry.path, entry);
    else coming.folders.push(entry.path);
  }
  const [path] = missing;
  if (path !== undefined)
    throw new WorldFault("not_found", `${path} is not in the archive.`, { entry: path });
  return coming;
}

/** What a restore of the whole world removes unless the archive has it. */
async function* everythingIn(world: Folder, signal: AbortSignal | undefined): AsyncGenerator<Present> {
  const isIn = ({ name }: { name: string }, depth: number) =>
    depth > 0 || !(isHidden(name) || name === lostAndFound);
  try {
    for await (const { path, folder, name, kind } of visit(world, { signal, isIn })) {
      if (kind === "folder") continue;
      const stats = await folder.find(name);
      // What has gone meanwhile is not there.
      if (stats) yield { path, folder, name, ...looksOf(stats) };
    }
  } catch (error) {
    // The archive is not at fault, and neither is the caller.
    if (isWorldFault(error))
      throw new Error("a folder was removed while the world was read", { cause: error });
    throw error;
  }
}

/** What lies where single files and folders come to lie. */
async function* lookUp(world: Folder, { files, folders }: Coming): AsyncGenerator<Present> {
  await using cursor = new Cursor(world);
  for (const path of folders) {
    const found = await findAt(cursor, path);
    if (found && !found.stats.isDirectory()) throw conflictAt(path);
  }
  for (const path of [...files.keys()]) {
    const found = await findAt(cursor, path);
    if (!found) continue;
    if (found.stats.isDirectory()) throw conflictAt(path);
    yield { path, folder: found.folder, name: found.name, ...looksOf(found.stats) };
  }
}

async function findAt(cursor: Cursor, path: string) {
  const { folder: outer, name } = splitPath(path);
  try {
    const folder = await cursor.at(outer);
    const stats = await folder.find(name);
    return stats && { folder, name, stats };
  } catch (error) {
    if (isWorldFault(error, "not_found")) return undefined;
    // A file or a link where a folder comes.
    if (isWorldFault(error)) throw conflictAt(outer);
    throw error;
  }
}

function conflictAt(path: string): WorldFault {
  const entry = printable(path);
  return new WorldFault("type_conflict", `${entry} is a folder on one side only.`, { entry });
}

function looksOf(stats: Stats): Looks {
  const { dev, ino } = stats;
  const isFile = stats.isFile();
  return { dev, ino, isFile, size: isFile ? stats.size : 0, mtimeMs: Math.floor(stats.mtimeMs) };
}

type Verdict = "same" | "changed" | "unknown";

/** By what an archive records of a file. `unknown`: only the content tells. */
export function compareFile(
  entry: Pick<Header, "size" | "mtimeMs">,
  present: Pick<Looks, "isFile" | "size" | "mtimeMs">,
): Verdict {
  if (!present.isFile || present.size !== entry.size) return "changed";
  return present.mtimeMs === entry.mtimeMs ? "same" : "unknown";
}

type Reader = {
  /** With the size that an archive gives it. */
  asArchived: (present: Present) => Promise<Present>;
  read: (entry: Header, present: Present) => Promise<Verdict>;
};

function createReader(known: Protected, options: Options): Reader {
  const { reading, now = () => performance.now(), signal } = options;
  const endAt = now() + reading.timeMs;
  let left = reading.bytes;
  return {
    asArchived: async (present) => {
      if (!isForwarding(known, present) || present.size > mostForwardingBytes) return present;
      const file = openFile(present);
      if (!file) return present;
      await using opened = file;
      // An archive has another secret in it, and its length may be another one.
      const text = (await opened.readAll()).toString("latin1");
      return { ...present, size: scrubForwarding(text).length };
    },
    read: async ({ digest, size }, present) => {
      if (!digest || isForwarding(known, present) || size > left || now() >= endAt) return "unknown";
      const file = openFile(present);
      if (!file) return "unknown";
      await using opened = file;
      left -= size;
      signal?.throwIfAborted();
      const hash = createHash("sha256");
      try {
        for await (const chunk of opened.content()) hash.update(chunk);
      } catch (error) {
        if (isUnreadable(error)) return "unknown";
        throw error;
      }
      return hash.digest().equals(digest) ? "same" : "changed";
    },
  };
}

/** Undefined for what has gone meanwhile, is no file any more, or may not be read. */
function openFile({ folder, name }: Present): SourceFile | undefined {
  try {
    return SourceFile.open(folder, name);
  } catch (error) {
    if (isWorldFault(error) || isUnreadable(error)) return undefined;
    throw error;
  }
}

function createChanges() {
  const files: RestoreChange[] = [];
  const counts = { added: 0, changed: 0, removed: 0, same: 0, may_be_same: 0 };
  const bytes = { added: 0, changed: 0, removed: 0 };
  const note = ({ path, size, ...rest }: RestoreChange) => {
    counts[rest.change] += 1;
    bytes[rest.change] = clampToSafeInteger(bytes[rest.change] + size);
    files.push({ path: path.toWellFormed(), size: clampToSafeInteger(size), ...rest });
  };
  return {
    add: ({ path, size }: Header) => note({ path, change: "added", size }),
    remove: ({ path, size }: Present) => note({ path, change: "removed", size }),
    compared: ({ path, size }: Header, { present, verdict }: { present: Present; verdict: Verdict }) => {
      if (verdict === "same") {
        counts.same += 1;
        return;
      }
      const isUnknown = verdict === "unknown";
      if (isUnknown) counts.may_be_same += 1;
      const was = clampToSafeInteger(present.size);
      note({ path, change: "changed", size, was, ...(isUnknown && { may_be_same: true }) });
    },
    end: (most: Most): RestoreChanges => {
      files.sort((one, other) => (one.path < other.path ? -1 : 1));
      const named = firstOf(files, most);
      const { added: added_bytes, changed: changed_bytes, removed: removed_bytes } = bytes;
      return {
        ...counts,
        ...{ added_bytes, changed_bytes, removed_bytes },
        ...{ files: named, truncated: named.length < files.length },
      };
    },
  };
}
