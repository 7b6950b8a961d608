// Restores a world from an archive. The entries are checked before a byte is written, the new tree is built beside the old
// one, and the two are switched only when every checksum, every header and the digest of the archive match: whatever fails,
// the world is either the old one or the new one (docs/reference/restore.md#swap).

import { checkIndex } from "../archive/index-check.ts";
import { type ArchiveIndex, readIndex } from "../archive/index-frame.ts";
import { type Archive, openArchive } from "../archive/open.ts";
import { corrupt, roomOf, type TarEntry } from "../archive/tar-header.ts";
import { type ReadEntry, readTar } from "../archive/tar-reader.ts";
import { Tree, type TreeNode } from "../archive/tree.ts";
import { verifyArchive } from "../archive/verify.ts";
import { WorldFault } from "../fault.ts";
import type { ArchiveFile } from "../path/archive-file.ts";
import { explain, type Folder } from "../path/folder.ts";
import { isLostAndFound, lostAndFound } from "../path/lost-and-found.ts";
import { isHidden } from "../path/parse.ts";
import { visit } from "../path/visit.ts";
import { StagingTree } from "../swap/staging-tree.ts";
import { switchOver, unchanged } from "../swap/switch.ts";
import { compareTree } from "./compare.ts";
import { TreeWriter } from "./extract.ts";
import { OldWorld, OldWorldUnreadable } from "./old-world.ts";

type RestorePlan = {
  world: Folder;
  archive: ArchiveFile;
  sha256: string;
  /** Compares every file with the archive, and with its digest in the index, before the switch. */
  compare?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Counts bytes of the archive; without an index, once while checking and once while extracting. */
  onProgress?: ((done: number, total: number) => void) | undefined;
};

type Counted = { entries: number; files: number; bytes: number };
export type Restored = Counted & { removed: number };

const clusterBytes = 4_096;

/** Throws faults of the archive and `volume_full` with the old world in place; `SwitchIncomplete` otherwise. */
export async function restoreWorld(plan: RestorePlan): Promise<Restored> {
  const archive = await openArchive(plan.archive);
  const announced = await checkEntries(archive, plan).catch((error: unknown) => {
    throw unchanged(error);
  });
  await assertRoom(plan.world, await roomFor(plan.world, announced));
  try {
    await using old = new OldWorld(plan.world);
    return await replaceWorld({ plan, archive, announced, old });
  } catch (error) {
    if (!(error instanceof OldWorldUnreadable)) throw error;
    return await replaceWorld({ plan, archive, announced });
  }
}

/** Builds the new tree and switches to it. May throw `OldWorldUnreadable`. */
async function replaceWorld(filling: Filling): Promise<Restored> {
  const { plan, archive, announced } = filling;
  await using stage = await StagingTree.make(plan.world, "restore");
  let counted: Counted;
  try {
    counted = await fillStage(stage, filling);
    if (plan.compare) await compareTree(stage.fresh, archive);
    await switchOver(stage, await planReplace(stage));
  } catch (error) {
    if ((error as Error).name !== "SwitchIncomplete") await stage.remove().catch(() => undefined);
    throw unchanged(explain(error, "the world"));
  }
  const removed = await countRemoved(stage.replaced, announced.tree);
  await stage.remove();
  return { ...counted, removed };
}

type Announced = {
  tree: Tree;
  /** Bytes of all files and folders. */
  need: number;
  /** Absent: the archive has already been read whole. */
  index: ArchiveIndex | undefined;
};

/**
 * Rejects entries that no world may hold and sums up the space they need. An index gives that at once, and extraction then
 * accepts only entries of the index; without one the archive is read whole first.
 */
async function checkEntries(archive: Archive, plan: RestorePlan): Promise<Announced> {
  const tree = new Tree();
  let need = 0;
  const take = (entry: TarEntry) => {
    tree.add(entry);
    need += entry.kind === "file" ? roundUp(roomOf(entry)) : clusterBytes;
  };
  if (archive.seek) {
    const index = await archive.seek.index();
    for await (const entry of readIndex(index)) take(entry);
    return { tree, need, index };
  }
  await verifyArchive(archive, {
    sha256: plan.sha256,
    signal: plan.signal,
    onProgress: (done) => plan.onProgress?.(done, 2 * archive.size),
    onEntry: take,
  });
  return { tree, need, index: undefined };
}

type Filling = {
  plan: RestorePlan;
  archive: Archive;
  announced: Announced;
  /** Files that need not be written again. */
  old?: OldWorld | undefined;
};

/** Throws `backup_corrupt` even at the very end, when only the digest differs. */
async function fillStage(stage: StagingTree, { plan, archive, announced, old }: Filling): Promise<Counted> {
  await using writer = new TreeWriter(stage.fresh, await plan.world.stat());
  const counted = { entries: 0, files: 0, bytes: 0 };
  // Without an index this is the second read.
  const before = announced.index ? 0 : archive.size;
  const { plain, sha256 } = archive.readAll({
    signal: plan.signal,
    onProgress: (done) => plan.onProgress?.(before + done, before + archive.size),
  });
  const index = announced.index && checkIndex(announced.index);
  for await (const read of readTar(plain)) {
    const checked = await index?.next(read);
    // The digest of the whole covers the content; that of each file takes a fifth of the time of a restore.
    const entry = plan.compare && checked ? checked : read;
    counted.entries += 1;
    counted.files += entry.kind === "file" ? 1 : 0;
    counted.bytes += entry.size;
    if (isLostAndFound(entry.path)) continue;
    if (entry.kind === "folder") await writer.folder(entry);
    else await putFile(entry, { writer, old });
  }
  await index?.end();
  if (sha256() !== plan.sha256) throw corrupt("its sha256 differs from the one recorded when it was made");
  await writer.finish();
  return counted;
}

type Putting = { writer: TreeWriter; old: OldWorld | undefined };

async function putFile(entry: ReadEntry, { writer, old }: Putting): Promise<void> {
  const found = await old?.open(entry);
  if (!old || !found) return await writer.file(entry, entry.content());
  await using file = found.file;
  const content = await old.compare(file, entry.content());
  if (content) await writer.file(entry, content);
  else if (!(await writer.alias(entry, found))) await writer.file(entry, file.content());
}

/** The plan that makes the world equal to the staging tree; `lost+found` stays. */
async function planReplace({ root, fresh }: StagingTree) {
  const put = (await fresh.list()).map(({ name }) => name);
  const coming = new Set(put);
  const remove = (await root.list())
    .map(({ name }) => name)
    .filter((name) => !isHidden(name) && name !== lostAndFound && !coming.has(name));
  return { kind: "replace" as const, remove, put };
}

export async function assertRoom(world: Folder, need: number): Promise<void> {
  const avail = await world.freeBytes();
  if (avail === undefined || need <= avail) return;
  throw new WorldFault(
    "volume_full",
    `The world volume has no space for the new files beside the old ones: ${mib(need - avail)} MiB are missing. Delete files that you no longer need, or have it enlarged. The world is unchanged.`,
    { need, avail },
  );
}

/** Space that the new tree takes beside the old one. Only an index tells which files they have in common. */
async function roomFor(world: Folder, { need, index }: Announced): Promise<number> {
  const avail = await world.freeBytes();
  if (!index || avail === undefined || need <= avail) return need;
  await using old = new OldWorld(world);
  return need - (await old.bytesOf(readIndex(index), roundUp));
}

const mib = (bytes: number) => Math.ceil(bytes / (1 << 20));

export function roundUp(size: number): number {
  return Math.ceil(size / clusterBytes) * clusterBytes;
}

/** Counts entries of the old world that the new one does not have. */
async function countRemoved(old: Folder, tree: Tree): Promise<number> {
  let count = 0;
  // The folder of the new world at each level of the walk through the old one.
  const way: (TreeNode | undefined)[] = [tree.root];
  for await (const { name, depth, kind } of visit(old)) {
    const node = way[depth]?.below?.get(name);
    if (kind === "folder") way[depth + 1] = node;
    else if (node?.kind !== "file") count += 1;
  }
  return count;
}
