import type { Task, TaskDone } from "@svc/proto/world-task";
import { browseArchive, openArchive } from "@svc/world";
import { limits } from "../config.ts";
import type { Context } from "../context.ts";
import { openSource } from "./source.ts";

/** One folder of an archive's tree. */
export async function browse(task: Task & { mode: "browse" }, context: Context): Promise<TaskDone> {
  await using source = await openSource(task.from, context);
  const archive = await openArchive(source.file);
  const { listing, truncated } = await browseArchive(archive, { path: task.path, most: limits.listEntries });
  return { listing, truncated };
}
