// Puts a finished stage in place, all of it or nothing of it, and settles what an earlier run left half-way.

import { WorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { isHidden } from "../path/parse.ts";
import { removeTree } from "../path/remove-tree.ts";
import { syncVolume } from "../path/sync-volume.ts";
import { applyMerge } from "./merge.ts";
import { endPlan, type Plan, planName, readPlan, writePlan } from "./plan.ts";
import { applyReplace, revertReplace } from "./replace.ts";
import { StagingTree } from "./staging-tree.ts";

/** Thrown when the old tree could not be put back either; the next run of the agent goes on with the switch. */
export class SwitchIncomplete extends Error {
  constructor(cause: unknown) {
    super("The switch is half done; the next run carries it through.", { cause });
    this.name = "SwitchIncomplete";
  }
}

/**
 * Makes the new tree durable, then switches. When it throws anything but `SwitchIncomplete`, the world is what it was before.
 */
export async function switchOver(stage: StagingTree, plan: Plan): Promise<void> {
  await syncVolume(stage.folder);
  await writePlan(stage.folder, plan);
  try {
    await forward(stage, plan);
  } catch (error) {
    if (error instanceof AggregateError) throw new SwitchIncomplete(error);
    if (plan.kind === "replace") {
      await revertReplace(stage, plan).catch((second: unknown) => {
        throw new SwitchIncomplete(new AggregateError([error, second]));
      });
    }
    await endPlan(stage.folder);
    throw error;
  }
  await endPlan(stage.folder);
}

async function forward(stage: StagingTree, plan: Plan): Promise<void> {
  if (plan.kind === "replace") return await applyReplace(stage, plan);
  await using base = await stage.root.descend(plan.at);
  await applyMerge({ fresh: stage.fresh, base, replaced: stage.replaced });
}

export type Recovered = {
  /** Switches that were carried through. */
  completed: number;
  /** Partials that were removed. */
  swept: number;
};

/** Before anything else is done to a world: carries switches through and removes partials. */
export async function recoverWorld(root: Folder): Promise<Recovered> {
  const settled: Recovered = { completed: 0, swept: 0 };
  for (const { name, kind } of await root.list()) {
    if (!isHidden(name)) continue;
    if (kind === "folder" && (await complete(root, name))) settled.completed += 1;
    await removeTree(root, name);
    settled.swept += 1;
  }
  if (settled.swept > 0) await root.sync();
  return settled;
}

/** As `recoverWorld`, by path: for the step that runs before a server starts. */
export async function recoverVolume(path: string): Promise<Recovered> {
  await using root = await Folder.openRoot(path);
  return await recoverWorld(root);
}

/** Throws when a switch waits to be carried through: what a reader would see is neither the old nor the new world. */
export async function assertRecovered(root: Folder): Promise<void> {
  for (const { name, kind } of await root.list()) {
    if (!isHidden(name) || kind !== "folder") continue;
    await using folder = await root.enter(name);
    if (await folder.find(planName))
      throw new Error(
        "an interrupted restore or extraction waits to be carried through: start the server once, or repeat it (a restore without its snapshot)",
      );
  }
}

async function complete(root: Folder, name: string): Promise<boolean> {
  await using folder = await root.enter(name);
  const plan = await readPlan(folder);
  if (!plan) return false;
  await using stage = await StagingTree.open(root, name);
  await forward(stage, plan);
  await endPlan(folder);
  return true;
}

/** Says in a fault what became of the world. */
export function unchanged(error: unknown): unknown {
  if (!(error instanceof WorldFault)) return error;
  const { code, message, ...about } = error.fault;
  return new WorldFault(code, `${message} The world is as it was.`, about);
}
