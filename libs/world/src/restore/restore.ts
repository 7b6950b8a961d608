// Archive -> world. The archive is read whole before a byte is written, the new tree is made beside the old one, and the
// two change places at the end: whatever fails, the world is the old one or the new one (behaviour.md h.4).

import type { FileHandle } from "node:fs/promises";
import { type Archive, openArchive } from "../archive/open.ts";
import { readTar } from "../archive/tar-reader.ts";
import { Tree, verifyArchive } from "../archive/verify.ts";
import { lostAndFound } from "../archive/walk.ts";
import { WorldFault } from "../fault.ts";
import { explain, type Folder } from "../path/folder.ts";
import { isHidden } from "../path/parse.ts";
import { Stage } from "../swap/stage.ts";
import { switchOver, unchanged } from "../swap/switch.ts";
import { compareTree } from "./compare.ts";
import { TreeWriter } from "./extract.ts";

export type RestorePlan = {
  world: Folder;
  archive: FileHandle;
  sha256: string;
  /** Compares every file with the archive before the trees change places. */
  compare?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Of the bytes of the archive, once while checking and once while extracting. */
  onProgress?: ((done: number, total: number) => void) | undefined;
};

export type Restored = { entries: number; files: number; bytes: number; removed: number };

const clusterBytes = 4_096;

/** Throws faults of the archive and `volume_full` with the old world in place, `HalfDone` in between. */
export async function restoreWorld(plan: RestorePlan): Promise<Restored> {
  const archive = await openArchive(plan.archive);
  const tree = new Tree();
  let need = 0;
  const verified = await verifyArchive(archive, {
    sha256: plan.sha256,
    signal: plan.signal,
    onProgress: (done) => plan.onProgress?.(done, 2 * archive.size),
    onEntry: (entry) => {
      tree.add(entry);
      need += entry.kind === "file" ? roundUp(entry.size) : clusterBytes;
    },
  }).catch((error: unknown) => {
    throw unchanged(error);
  });
  await assertRoom(plan.world, need);
  await using stage = await Stage.make(plan.world, "restore");
  try {
    await fillStage(stage, { plan, archive });
    if (plan.compare) await compareTree(stage.fresh, archive);
    await switchOver(stage, await planReplace(stage));
  } catch (error) {
    if ((error as Error).name !== "HalfDone") await stage.remove().catch(() => undefined);
    throw unchanged(explain(error, "the world"));
  }
  const removed = await countRemoved(stage.replaced, { tree, prefix: "" });
  await stage.remove();
  const { entries, files, bytes } = verified;
  return { entries, files, bytes, removed };
}

async function fillStage(stage: Stage, { plan, archive }: { plan: RestorePlan; archive: Archive }) {
  await using writer = new TreeWriter(stage.fresh, await plan.world.stat());
  const { plain } = archive.readAll({
    signal: plan.signal,
    onProgress: (done) => plan.onProgress?.(archive.size + done, 2 * archive.size),
  });
  for await (const entry of readTar(plain)) {
    if (isLostAndFound(entry.path)) continue;
    if (entry.kind === "folder") await writer.folder(entry);
    else await writer.file(entry, entry.content());
  }
  await writer.finish();
}

async function planReplace({ root, fresh }: Stage) {
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
    "The world volume has no room for the new files beside the old ones. The world is as it was.",
    { need, avail },
  );
}

export function roundUp(size: number): number {
  return Math.ceil(size / clusterBytes) * clusterBytes;
}

export function isLostAndFound(path: string): boolean {
  return path === lostAndFound || path.startsWith(`${lostAndFound}/`);
}

/** Files and other things of the old world that the new one does not have. */
async function countRemoved(old: Folder, { tree, prefix }: { tree: Tree; prefix: string }): Promise<number> {
  let count = 0;
  for (const { name, kind } of await old.list()) {
    const path = `${prefix}${name}`;
    if (kind === "folder") {
      await using inner = await old.enter(name);
      count += await countRemoved(inner, { tree, prefix: `${path}/` });
    } else if (tree.paths.get(path) !== "file") {
      count += 1;
    }
  }
  return count;
}
