// World -> another volume that is mounted beside it, without an archive in between. As a restore does, it makes the new tree
// beside the old one and exchanges the two only when all of it is on the disk.

import { Tree } from "../archive/verify.ts";
import { measure, walk } from "../archive/walk.ts";
import { explain, type Folder } from "../path/folder.ts";
import { TreeWriter } from "../restore/extract.ts";
import { assertRoom, countRemoved, planReplace } from "../restore/restore.ts";
import { Stage, syncVolume } from "../swap/stage.ts";
import { assertSettled, switchOver, unchanged } from "../swap/switch.ts";
import { assertSameTree } from "./same-tree.ts";

export type CopyPlan = {
  from: Folder;
  /** The root of the volume whose world becomes the same as `from`. */
  to: Folder;
  /** Holds every file against its source, byte by byte, before the trees change places. */
  compare?: boolean | undefined;
  signal?: AbortSignal | undefined;
  /** Of the bytes of files, once while copying and once while comparing. */
  onProgress?: ((done: number, total: number) => void) | undefined;
};

export type Copied = {
  entries: number;
  files: number;
  bytes: number;
  /** What the volume held and the copy does not. */
  removed: number;
  /** Links, devices, pipes and sockets: no world holds them. */
  skipped: number;
  /** The first ten of them. */
  skippedPaths: string[];
};

const clusterBytes = 4_096;

/**
 * Makes the world of a volume the same as another: content, modes and times, and nothing else in it. Throws
 * `volume_full` and our own failures, also for a source that changes meanwhile, with the old world in place; `HalfDone` in
 * between.
 */
export async function copyWorld(plan: CopyPlan): Promise<Copied> {
  await assertSettled(plan.from);
  const { bytes, entries } = await measure(plan.from, plan);
  await assertRoom(plan.to, bytes + entries * clusterBytes);
  await using stage = await Stage.make(plan.to, "copy");
  const tree = new Tree();
  let counted: Omit<Copied, "removed">;
  try {
    const total = plan.compare ? 2 * bytes : bytes;
    counted = await fillStage(stage, { plan, tree, total });
    const onProgress = (done: number) => plan.onProgress?.(bytes + done, total);
    // What was written goes to the disk while it is compared.
    if (plan.compare)
      await allOf(
        assertSameTree(plan.from, stage.fresh, { signal: plan.signal, onProgress }),
        syncVolume(stage.folder),
      );
    await switchOver(stage, await planReplace(stage));
  } catch (error) {
    if ((error as Error).name !== "HalfDone") await stage.remove().catch(() => undefined);
    throw unchanged(explain(error, "the world"));
  }
  const removed = await countRemoved(stage.replaced, { tree, prefix: "" });
  await stage.remove();
  return { ...counted, removed };
}

type Filling = { plan: CopyPlan; tree: Tree; total: number };

async function fillStage(stage: Stage, { plan, tree, total }: Filling): Promise<Omit<Copied, "removed">> {
  await using writer = new TreeWriter(stage.fresh, await plan.to.stat());
  const copied = { entries: 0, files: 0, bytes: 0, skipped: 0, skippedPaths: [] as string[] };
  for await (const found of walk(plan.from, plan)) {
    if (found.kind === "other") {
      copied.skipped += 1;
      if (copied.skippedPaths.length < 10) copied.skippedPaths.push(found.path);
      continue;
    }
    const { path, kind, stats } = found;
    const size = kind === "file" ? stats.size : 0;
    const entry = { path, kind, size, mode: stats.mode & 0o777, mtimeMs: Math.floor(stats.mtimeMs) };
    tree.add(entry);
    if (found.kind === "folder") await writer.folder(entry);
    else if (found.file.isOurs) await writer.copy(entry, found.file);
    else await writer.file(entry, found.file.content());
    copied.entries += 1;
    copied.files += kind === "file" ? 1 : 0;
    copied.bytes += size;
    plan.onProgress?.(copied.bytes, total);
  }
  await writer.finish();
  return copied;
}

/** Waits for all before it throws what failed first: nothing goes on in a folder that is about to be removed. */
async function allOf(...steps: Promise<void>[]): Promise<void> {
  await Promise.allSettled(steps);
  await Promise.all(steps);
}
