import type { Task, TaskDone } from "@svc/proto/world-task";
import { compareArchives, openArchive } from "@svc/world";
import { limits } from "../config.ts";
import type { Context } from "../context.ts";
import { openSource } from "./source.ts";

/** Which files differ between two archives. */
export async function compare(task: Task & { mode: "compare" }, context: Context): Promise<TaskDone> {
  await using source = await openSource(task.from, context);
  await using base = await openSource(task.base, context);
  const [archive, earlier] = [await openArchive(source.file), await openArchive(base.file)];
  const changes = await compareArchives(archive, earlier, { path: task.path, most: limits.changes });
  return { changes };
}
