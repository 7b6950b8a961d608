// The journal of a switch. Once it is there under its name, the switch is carried through, by this run or by the next.

import { z } from "zod";
import { isWorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";

export const planName = "plan";
const draftName = "plan.draft";
const endedName = "plan.ended";

export const Plan = z.discriminatedUnion("kind", [
  /** The new tree takes the place of the whole world: names at its root that go, and names that come. */
  z.strictObject({ kind: z.literal("replace"), remove: z.array(z.string()), put: z.array(z.string()) }),
  /** The new tree is laid over one folder of the world. */
  z.strictObject({ kind: z.literal("merge"), at: z.array(z.string()) }),
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

/** The plan of a stage; undefined when it never got that far or has ended, and nothing of it counts. */
export async function readPlan(folder: Folder): Promise<Plan | undefined> {
  try {
    await using file = await folder.openFile(planName);
    return Plan.parse(JSON.parse(await file.readFile("utf8")));
  } catch (error) {
    if (isWorldFault(error, "not_found")) return undefined;
    throw error;
  }
}

/** Says that nothing of the plan is left to do, whichever way it went. */
export async function endPlan(folder: Folder): Promise<void> {
  await folder.move(planName, { name: endedName });
  await folder.sync();
}
