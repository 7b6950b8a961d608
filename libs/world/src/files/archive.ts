// Packs chosen files and folders as a zip beside them, the counterpart of `unzip` (docs/reference/files.md#archive). The zip has
// its name once it is whole: until then it is a partial at the root of the world.

import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { ArchiveLeftOut } from "@svc/proto/world-task";
import yazl from "yazl";
import { WorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { parseTarget } from "../path/parse.ts";
import { assertWritable, findProtected } from "../path/protect.ts";
import { SourceFile } from "../path/source-file.ts";
import { isUnreadable } from "../path/visit.ts";
import { writeAll } from "../path/write-all.ts";
import { commitFile } from "./commit.ts";
import { type LeftOutReason, type Zipping, zipFolder, zipFound } from "./zip-tree.ts";

type ArchivePlan = {
  /** Of the zip; it must be free. */
  path: string;
  /** Of files and folders beside it. */
  names: readonly string[];
  /** `bytes`: of content, before it is compressed. */
  limits: { entries: number; bytes: number; leftOut: number };
  signal?: AbortSignal | undefined;
};

type Archived = {
  /** Files and folders in the zip. */
  entries: number;
  /** Size of the zip. */
  sizeBytes: number;
  leftOut: ArchiveLeftOut[];
  leftOutCount: number;
};

/** Throws `bad_path`, `not_found`, `file_exists`, `too_large`, `volume_full`, all with the world unchanged. */
export async function archiveFiles(world: Folder, plan: ArchivePlan): Promise<Archived> {
  const { parents, name } = parseTarget(plan.path);
  const known = await findProtected(world);
  await using folder = await world.descend(parents);
  assertWritable(known, [...parents, name]);
  if (await folder.find(name))
    throw new WorldFault("file_exists", `${plan.path} already exists.`, { entry: plan.path });
  const archived: Archived = { entries: 0, sizeBytes: 0, leftOut: [], leftOutCount: 0 };
  let bytes = 0;
  const onEntry = (entry: { bytes: number }) => {
    archived.entries += 1;
    bytes += entry.bytes;
    assertWithin(plan.limits, { entries: archived.entries, bytes });
  };
  const prefix = parents.length === 0 ? "" : `${parents.join("/")}/`;
  const onLeftOut = ({ path, reason }: { path: string; reason: LeftOutReason }) => {
    archived.leftOutCount += 1;
    if (archived.leftOut.length >= plan.limits.leftOut) return;
    archived.leftOut.push({ path: shortened(`${prefix}${path}`), reason });
  };
  const commit = { world, folder, name, there: undefined, isNew: true, size: 0 };
  await commitFile(commit, async (file) => {
    const ended = new AbortController();
    const signal = plan.signal ? AbortSignal.any([plan.signal, ended.signal]) : ended.signal;
    const zip = new yazl.ZipFile();
    const filling = fill({ zip, known, signal, onEntry, onLeftOut }, folder, plan.names);
    try {
      archived.sizeBytes = await writeZip(zip, filling, file);
    } finally {
      // What is still being read ends, and its file is closed.
      ended.abort(new Error("the archive ended"));
      await filling.catch(() => undefined);
    }
  });
  return archived;
}

async function writeZip(zip: yazl.ZipFile, filling: Promise<void>, file: FileHandle): Promise<number> {
  const output = zip.outputStream as Readable;
  filling.catch((error: Error) => output.destroy(error));
  zip.once("error", (error: Error) => output.destroy(error));
  let sizeBytes = 0;
  for await (const chunk of output) {
    await writeAll(file, chunk as Buffer);
    sizeBytes += (chunk as Buffer).length;
  }
  return sizeBytes;
}

async function fill(zipping: Zipping, folder: Folder, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const stats = await folder.find(name);
    if (!stats) throw new WorldFault("not_found", `${name} does not exist.`);
    if (stats.isDirectory()) await addFolder(zipping, folder, name);
    else if (stats.isFile()) await addFile(zipping, folder, name);
    else zipping.onLeftOut({ path: name, reason: "special" });
  }
  zipping.zip.end();
}

async function addFolder(zipping: Zipping, folder: Folder, name: string): Promise<void> {
  let inner: Folder;
  try {
    inner = await folder.enter(name);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return zipping.onLeftOut({ path: name, reason: "unreadable" });
  }
  await using entered = inner;
  await zipFolder(zipping, entered, name);
}

async function addFile(zipping: Zipping, folder: Folder, name: string): Promise<void> {
  let opened: SourceFile;
  try {
    opened = SourceFile.open(folder, name);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return zipping.onLeftOut({ path: name, reason: "unreadable" });
  }
  await using file = opened;
  await zipFound(zipping, { found: { path: name, kind: "file", stats: file.stats, file }, path: name });
}

type Amount = { entries: number; bytes: number };

function assertWithin(most: Amount, { entries, bytes }: Amount): void {
  if (entries > most.entries)
    throw tooLarge(`An archive holds at most ${most.entries} files and folders; choose fewer`);
  if (bytes > most.bytes) throw tooLarge(`An archive holds at most ${most.bytes} bytes; choose less`);
}

function tooLarge(why: string): WorldFault {
  return new WorldFault("too_large", `${why}, or download the folder as a zip. Nothing was changed.`);
}

const longestPath = 400;

function shortened(path: string): string {
  const text = path.toWellFormed();
  return text.length <= longestPath ? text : `${text.slice(0, 100)} ... ${text.slice(-(longestPath - 105))}`;
}
