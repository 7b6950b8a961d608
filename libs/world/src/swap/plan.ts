// The journal of a switch. Once it exists under its final name, this run or the next completes the switch.

import { z } from "zod";
import { isWorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";

export const planName = "plan";
const draftName = "plan.draft";
const endedName = "plan.ended";

export const Plan = z.discriminatedUnion("kind", [
  /** The new tree replaces the whole world: names at its root to remove and to add. */
  z.strictObject({ kind: z.literal("replace"), remove: z.array(z.string()), put: z.array(z.string()) }),
  /** The new tree is merged into one folder of the world. */
  z.strictObject({
    kind: z.literal("merge"),
    at: z.array(z.string()),
    /** Files of that folder that go in the same step, by their names from it. */
    remove: z.array(z.array(z.string()).min(1)).optional(),
  }),
]);
export type Plan = z.output<typeof Plan>;

export async function writePlan(folder: Folder, plan: Plan): Promise<void> {
  {
    await using file = await folder.createFile(draftName, 0o600);
    await file.writeFile(JSON.stringify(plan));
    await file.sync();
  }
  await folder.move(draftName, { name: planName });
  await folder.sync();
}

/** The plan in a staging tree; undefined when none was committed or it has ended. */
export async function readPlan(folder: Folder): Promise<Plan | undefined> {
  try {
    await using file = await folder.openFile(planName);
    return Plan.parse(JSON.parse(await file.readFile("utf8")));
  } catch (error) {
    if (isWorldFault(error, "not_found")) return undefined;
    throw error;
  }
}

/** Marks the plan as done, whether it succeeded or was undone. */
export async function endPlan(folder: Folder): Promise<void> {
  await folder.move(planName, { name: endedName });
  await folder.sync();
}
