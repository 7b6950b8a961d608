// Restores single files and folders of an archive, found by its index if it has one.

import type { FileEntry } from "@svc/proto/world-task";
import { withDigest } from "../archive/index-check.ts";
import { type IndexedEntry, readIndex } from "../archive/index-frame.ts";
import { type Archive, openArchive } from "../archive/open.ts";
import { corrupt, roomOf, type TarEntry } from "../archive/tar-header.ts";
import { type ReadEntry, readTar } from "../archive/tar-reader.ts";
import { Tree } from "../archive/tree.ts";
import { verifyArchive } from "../archive/verify.ts";
import { WorldFault } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import { explain, type Folder } from "../path/folder.ts";
import { parsePath } from "../path/parse.ts";
import { StagingTree } from "../swap/staging-tree.ts";
import { switchOver, unchanged } from "../swap/switch.ts";
import { TreeWriter } from "./extract.ts";
import { assertRoom, type Restored, roundUp } from "./restore.ts";

type PartialRestorePlan = {
  world: Folder;
  archive: ArchiveFile;
  sha256: string;
  /** Paths of files and folders, as in requests. */
  only: string[];
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
};

/**
 * Restores some files and folders of an archive over the world and removes nothing. With an index only their frames are
 * read, each with its own checksum and each file with its digest; without one the whole archive is read and its digest verified first. Throws
 * `not_found` for a path that is not in the archive, and as `restoreWorld`.
 */
export async function restorePaths(plan: PartialRestorePlan): Promise<Restored> {
  const archive = await openArchive(plan.archive);
  const paths = plan.only.map((path) => parsePath(path).join("/"));
  const selected = await pick(archive, { paths, plan });
  await assertRoom(
    plan.world,
    selected.reduce((sum, entry) => sum + roundUp(roomOf(entry)), 0),
  );
  await using stage = await StagingTree.make(plan.world, "restore");
  try {
    await using writer = new TreeWriter(stage.fresh, await plan.world.stat());
    const total = selected.reduce((sum, entry) => sum + roomOf(entry), 0);
    let done = 0;
    for await (const entry of entriesOf(archive, { selected, paths })) {
      plan.signal?.throwIfAborted();
      if (entry.kind === "folder") await writer.folder(entry);
      else await writer.file(entry, entry.content());
      done += roomOf(entry);
      plan.onProgress?.(done, total);
    }
    await writer.finish();
    await switchOver(stage, { kind: "merge", at: [] });
  } catch (error) {
    if ((error as Error).name !== "SwitchIncomplete") await stage.remove().catch(() => undefined);
    throw unchanged(explain(error, "the world"));
  }
  await stage.remove();
  const files = selected.filter(({ kind }) => kind === "file");
  return {
    entries: selected.length,
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    removed: 0,
  };
}

type SelectedEntry = TarEntry & Partial<Pick<IndexedEntry, "headerAt" | "digest">>;

async function pick(
  archive: Archive,
  { paths, plan }: { paths: string[]; plan: PartialRestorePlan },
): Promise<SelectedEntry[]> {
  const selected: SelectedEntry[] = [];
  const tree = new Tree();
  const take = (entry: SelectedEntry) => {
    if (!isWanted(entry.path, paths)) return;
    tree.add(entry);
    selected.push(entry);
  };
  if (archive.seek) {
    for await (const entry of readIndex(await archive.seek.index())) take(entry);
  } else {
    const { sha256, signal } = plan;
    await verifyArchive(archive, { sha256, signal, onEntry: take });
  }
  const missing = paths.find((path) => !selected.some((entry) => isWanted(entry.path, [path])));
  if (missing !== undefined)
    throw new WorldFault("not_found", `${missing} is not in the archive.`, { entry: missing });
  return selected;
}

export function isWanted(path: string, wanted: readonly string[]): boolean {
  return wanted.some((one) => one === "" || path === one || path.startsWith(`${one}/`));
}

type Wanted = { selected: SelectedEntry[]; paths: string[] };

async function* entriesOf(archive: Archive, { selected, paths }: Wanted): AsyncGenerator<ReadEntry> {
  if (!archive.seek) {
    for await (const entry of readTar(archive.readAll().plain)) if (isWanted(entry.path, paths)) yield entry;
    return;
  }
  for (let at = 0; at < selected.length; ) {
    let taken = 0;
    // Consecutive entries are read in one pass.
    for await (const entry of readTar(archive.seek.from(selected[at]?.headerAt ?? 0), { isPart: true })) {
      const expected = selected[at + taken];
      if (entry.path !== expected?.path) break;
      const isSame = entry.size === expected.size && entry.stored === expected.stored;
      if (!isSame || entry.kind !== expected.kind) throw corrupt("its index does not match its entries");
      yield withDigest(entry, expected.digest);
      taken += 1;
      // The next entry may be in another frame.
      if (at + taken === selected.length) break;
    }
    if (taken === 0) throw corrupt("its index does not match its entries");
    at += taken;
  }
}

type Browse = { path: string; most: number };

/** The entries of one folder of an archive, in order. Throws `not_found`. */
export async function browseArchive(
  archive: Archive,
  { path, most }: Browse,
): Promise<{ listing: FileEntry[]; truncated: boolean }> {
  const folder = parsePath(path).join("/");
  const prefix = folder === "" ? "" : `${folder}/`;
  const found = new Map<string, FileEntry>();
  let isThere = folder === "";
  for await (const entry of headersOf(archive)) {
    if (entry.path === folder && entry.kind === "folder") isThere = true;
    if (!entry.path.startsWith(prefix) || entry.path === folder) continue;
    isThere = true;
    const [name = "", ...below] = entry.path.slice(prefix.length).split("/");
    if (below.length === 0) found.set(name, listed(entry, name));
    else if (!found.has(name))
      found.set(name, listed({ ...entry, kind: "folder", size: 0, digest: undefined }, name));
  }
  if (!isThere)
    throw new WorldFault("not_found", `The folder ${folder} is not in the archive.`, { entry: folder });
  const listing = [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return { listing: listing.slice(0, most), truncated: listing.length > most };
}

/** An entry without its content. */
export type Header = TarEntry & Pick<IndexedEntry, "digest">;

/** All entries, from the index where there is one. */
export async function* headersOf(archive: Archive): AsyncGenerator<Header> {
  if (archive.seek) yield* readIndex(await archive.seek.index());
  else yield* readTar(archive.readAll().plain);
}

function listed({ kind, size, mtimeMs, digest }: Header, name: string): FileEntry {
  return {
    name: name.toWellFormed(),
    size,
    is_dir: kind === "folder",
    mod_time: new Date(mtimeMs).toISOString(),
    ...(digest && { sha256: digest.toString("hex") }),
  };
}
