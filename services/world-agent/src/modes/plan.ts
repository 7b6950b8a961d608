import type { Task, TaskDone } from "@svc/proto/world-task";
import { openArchive, planRestore } from "@svc/world";
import { limits } from "../config.ts";
import type { Context } from "../context.ts";
import { openSource } from "./source.ts";

/** What a restore would change in the world. */
export async function plan(task: Task & { mode: "plan" }, context: Context): Promise<TaskDone> {
  await using source = await openSource(task.from, context);
  const archive = await openArchive(source.file);
  const restore = await planRestore(task.no_world ? undefined : context.world, archive, {
    only: task.only,
    most: limits.changes,
    reading: limits.planReading,
    signal: context.signal,
  });
  return { restore };
}
