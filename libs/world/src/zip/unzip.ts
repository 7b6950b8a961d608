// Extracts a zip into its own folder, all or nothing: everything is checked first, written to a hidden staging tree, and
// merged at the end (docs/reference/uploads.md#unzip).

import type { FileHandle } from "node:fs/promises";
import { printable } from "../archive/tar-entry.ts";
import { releaseBuffer, shareBuffer } from "../buffer-release.ts";
import { isWorldFault, WorldFault } from "../fault.ts";
import { explain, type Folder } from "../path/folder.ts";
import { parseTarget } from "../path/parse.ts";
import { findProtected } from "../path/protect.ts";
import { TreeWriter } from "../restore/extract.ts";
import { assertRoom, roundUp } from "../restore/restore.ts";
import { StagingTree } from "../swap/staging-tree.ts";
import { switchOver, unchanged } from "../swap/switch.ts";
import { findConflicts, mayWrite } from "./conflicts.ts";
import { isSmall, isTiny, readLarge, readSmall, readTiny } from "./content.ts";
import { readZip, type ZipEntry } from "./read.ts";

type UnzipPlan = {
  world: Folder;
  path: string;
  overwrite: boolean;
  /** Leaves protected files out; otherwise one of them rejects the whole archive. */
  skipProtected?: boolean | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number) => void) | undefined;
};

type Unzipped = {
  files: number;
  bytes: number;
  /** The first protected files that were left out, sorted, as paths of the world; absent when there were none. */
  leftOut?: string[];
  leftOutCount?: number;
};

const mostShown = 200;

/** Small entries that are decompressed ahead of the one being written. */
const ahead = 3;

/** Throws faults of the archive, `file_exists` with the conflicts, `type_conflict`, `bad_path`, `volume_full`. */
export async function unzip(plan: UnzipPlan): Promise<Unzipped> {
  const { world } = plan;
  const { parents, name } = parseTarget(plan.path);
  await using folder = await world.descend(parents);
  await using file = await folder.openFile(name);
  const { entries: all, tree } = await readZip(file);
  const known = await findProtected(world);
  const leftOut = plan.skipProtected ? new Set<string>() : undefined;
  try {
    for (const { path, kind } of all)
      if (kind === "file") mayWrite({ known, names: [...parents, ...path.split("/")] }, { path, leftOut });
    await findConflicts(folder, { tree, known, parents, overwrite: plan.overwrite, leftOut });
  } catch (error) {
    throw leaveOut(error);
  }
  const entries = leftOut ? all.filter(({ path }) => !leftOut.has(path)) : all;
  const files = entries.filter(({ kind }) => kind === "file");
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  await assertRoom(
    world,
    entries.reduce((sum, { size }) => sum + Math.max(4_096, roundUp(size)), 0),
  );
  const refused = async (error: unknown) =>
    withRoom(unchanged(explain(error, "the volume")), { world, need: bytes });
  await using stage = await StagingTree.make(world, "unzip").catch(async (error: unknown) => {
    throw await refused(error);
  });
  try {
    await fillStage(stage, { plan, file, entries, total: bytes });
    await switchOver(stage, { kind: "merge", at: parents });
  } catch (error) {
    if ((error as Error).name !== "SwitchIncomplete") await stage.remove().catch(() => undefined);
    throw await refused(error);
  }
  await stage.remove();
  const left = [...(leftOut ?? [])].map((path) => printable([...parents, path].join("/"))).sort();
  const skipped = { leftOut: left.slice(0, mostShown), leftOutCount: left.length };
  return { files: files.length, bytes, ...(left.length > 0 && skipped) };
}

/** A mod pack with a protected file is rejected as a whole (docs/reference/files.md#paths), with the reason. */
function leaveOut(error: unknown): unknown {
  if (!isWorldFault(error, "bad_path")) return error;
  const { code, message, ...about } = error.fault;
  return new WorldFault(
    code,
    `${message} Take it out of the archive, or extract without such files (skip_protected); nothing was extracted.`,
    about,
  );
}

type Filling = { plan: UnzipPlan; file: FileHandle; entries: ZipEntry[]; total: number };

async function fillStage(stage: StagingTree, { plan, file, entries, total }: Filling): Promise<void> {
  await using writer = new TreeWriter(stage.fresh, await plan.world.stat());
  const started = new Map<number, Promise<Buffer>>();
  let done = 0;
  // Grouped by folder, whatever their order in the zip.
  entries.sort((one, other) => (one.path < other.path ? -1 : 1));
  try {
    for (const [index, entry] of entries.entries()) {
      plan.signal?.throwIfAborted();
      for (let next = index; next < Math.min(index + ahead, entries.length); next += 1) {
        const coming = entries[next];
        if (!coming || coming.kind === "folder" || isTiny(coming) || !isSmall(coming) || started.has(next))
          continue;
        const content = readSmall(file, coming);
        content.catch(() => undefined);
        started.set(next, content);
      }
      if (entry.kind === "folder") await writer.folder(entry);
      else await writer.file(entry, contentOf(file, entry, started.get(index)));
      started.delete(index);
      done += entry.size;
      plan.onProgress?.(done, total);
    }
  } finally {
    await Promise.allSettled(started.values());
  }
  await writer.finish();
}

async function* contentOf(file: FileHandle, entry: ZipEntry, small: Promise<Buffer> | undefined) {
  if (small !== undefined) {
    const plain = await small;
    shareBuffer(plain);
    yield plain;
    releaseBuffer(plain);
  } else if (isTiny(entry)) yield readTiny(file, entry);
  else yield* readLarge(file, entry);
}

async function withRoom(error: unknown, { world, need }: { world: Folder; need: number }): Promise<unknown> {
  if (!(error instanceof WorldFault) || error.fault.code !== "volume_full") return error;
  return new WorldFault("volume_full", error.message, { need, avail: (await world.freeBytes()) ?? 0 });
}
