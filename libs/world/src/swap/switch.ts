// Switches a world to a finished staging tree, all or nothing, and recovers what an interrupted run left.

import { WorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { isHidden } from "../path/parse.ts";
import { removeTree } from "../path/remove-tree.ts";
import { syncVolume } from "../path/sync-volume.ts";
import { applyMerge } from "./merge.ts";
import { endPlan, type Plan, planName, readPlan, writePlan } from "./plan.ts";
import { applyReplace, revertReplace } from "./replace.ts";
import { StagingTree } from "./staging-tree.ts";

/** Thrown when the switch could not be undone either; the next run of the agent completes it. */
class SwitchIncomplete extends Error {
  constructor(cause: unknown) {
    super("the switch is incomplete; the next run completes it", { cause });
    this.name = "SwitchIncomplete";
  }
}

/**
 * Makes the new tree durable, then switches. When it throws anything but `SwitchIncomplete`, the world is unchanged.
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
  await applyMerge({ fresh: stage.fresh, base, replaced: stage.replaced, remove: plan.remove ?? [] });
}

type Recovered = {
  /** Switches that were completed. */
  completed: number;
  /** Partials that were removed. */
  swept: number;
};

/** Completes interrupted switches and removes partials, before anything else is done to a world. */
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

/** Throws when a switch is incomplete: a reader would see neither the old nor the new world. */
export async function assertRecovered(root: Folder): Promise<void> {
  for (const { name, kind } of await root.list()) {
    if (!isHidden(name) || kind !== "folder") continue;
    await using folder = await root.enter(name);
    if (await folder.find(planName))
      throw new Error(
        "an interrupted restore or extraction is incomplete: start the server once, or repeat it (a restore without its snapshot)",
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

/** Adds to a fault that the world is unchanged. */
export function unchanged(error: unknown): unknown {
  if (!(error instanceof WorldFault)) return error;
  const { code, message, ...about } = error.fault;
  return new WorldFault(code, `${message} The world is unchanged.`, about);
}
