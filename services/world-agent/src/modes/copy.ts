import { copyWorld, type Task, type TaskDone } from "@svc/world";
import type { Context } from "../run.ts";

/** A world -> another volume that is mounted beside it. */
export async function copy({ compare }: Task & { mode: "copy" }, context: Context): Promise<TaskDone> {
  const { source: from, world: to, signal, onProgress } = context;
  const { skipped, skippedPaths, ...counted } = await copyWorld({ from, to, compare, signal, onProgress });
  for (const path of skippedPaths) context.say(`left out, neither file nor folder: ${path.toWellFormed()}`);
  return { ...counted, skipped_entries: skipped };
}
