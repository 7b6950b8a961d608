// Replaces the root of a world by a new tree, name by name. Each step is idempotent, so both directions can resume from
// wherever an earlier run stopped.

import type { Folder } from "../path/folder.ts";
import type { Plan } from "./plan.ts";
import type { StagingTree } from "./staging-tree.ts";

type Replace = Plan & { kind: "replace" };

export async function applyReplace({ root, fresh, replaced }: StagingTree, plan: Replace): Promise<void> {
  for (const name of plan.remove) await moveIfThere(name, { from: root, to: replaced });
  for (const name of plan.put) {
    // While the new one is still staged, the name in the world is the old one.
    if (!(await fresh.find(name))) continue;
    await moveIfThere(name, { from: root, to: replaced });
    await fresh.move(name, { folder: root, name });
  }
  await syncAll(root, fresh, replaced);
}

export async function revertReplace({ root, fresh, replaced }: StagingTree, plan: Replace): Promise<void> {
  for (const name of plan.put) {
    if (!(await fresh.find(name))) await moveIfThere(name, { from: root, to: fresh });
    await moveIfThere(name, { from: replaced, to: root });
  }
  for (const name of plan.remove) await moveIfThere(name, { from: replaced, to: root });
  await syncAll(root, fresh, replaced);
}

async function moveIfThere(name: string, { from, to }: { from: Folder; to: Folder }): Promise<void> {
  if (await from.find(name)) await from.move(name, { folder: to, name });
}

async function syncAll(...folders: Folder[]): Promise<void> {
  for (const folder of folders) await folder.sync();
}
