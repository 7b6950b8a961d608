// Puts a finished stage in place, all of it or nothing of it, and settles what an earlier run left half-way.

import { WorldFault } from "../fault.ts";
import { Folder } from "../path/folder.ts";
import { isHidden } from "../path/parse.ts";
import { removeTree } from "../path/remove-tree.ts";
import { syncVolume } from "../path/sync-volume.ts";
import { mergeForward } from "./merge.ts";
import { endPlan, type Plan, planName, readPlan, writePlan } from "./plan.ts";
import { putBack, putForward } from "./replace.ts";
import { Stage } from "./staging-tree.ts";

/** Thrown when the old tree could not be put back either; the next run of the agent goes on with the switch. */
export class HalfDone extends Error {
  constructor(cause: unknown) {
    super("The switch is half done; the next run carries it through.", { cause });
    this.name = "HalfDone";
  }
}

/**
 * Makes the new tree durable, then switches. When it throws anything but `HalfDone`, the world is what it was before.
 */
export async function switchOver(stage: Stage, plan: Plan): Promise<void> {
  await syncVolume(stage.folder);
  await writePlan(stage.folder, plan);
  try {
    await forward(stage, plan);
  } catch (error) {
    if (error instanceof AggregateError) throw new HalfDone(error);
    if (plan.kind === "replace") {
      await putBack(stage, plan).catch((second: unknown) => {
        throw new HalfDone(new AggregateError([error, second]));
      });
    }
    await endPlan(stage.folder);
    throw error;
  }
  await endPlan(stage.folder);
}

async function forward(stage: Stage, plan: Plan): Promise<void> {
  if (plan.kind === "replace") return await putForward(stage, plan);
  await using base = await stage.root.descend(plan.at);
  await mergeForward({ fresh: stage.fresh, base, replaced: stage.replaced });
}

export type Settled = {
  /** Switches that were carried through. */
  completed: number;
  /** Partials that were removed. */
  swept: number;
};

/** Before anything else is done to a world: carries switches through and removes partials. */
export async function settleWorld(root: Folder): Promise<Settled> {
  const settled: Settled = { completed: 0, swept: 0 };
  for (const { name, kind } of await root.list()) {
    if (!isHidden(name)) continue;
    if (kind === "folder" && (await complete(root, name))) settled.completed += 1;
    await removeTree(root, name);
    settled.swept += 1;
  }
  if (settled.swept > 0) await root.sync();
  return settled;
}

/** As `settleWorld`, by path: for the step that runs before a server starts. */
export async function settleVolume(path: string): Promise<Settled> {
  await using root = await Folder.openRoot(path);
  return await settleWorld(root);
}

/** Throws when a switch waits to be carried through: what a reader would see is neither the old nor the new world. */
export async function assertSettled(root: Folder): Promise<void> {
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
  await using stage = await Stage.open(root, name);
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
