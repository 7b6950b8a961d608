import type { Task, TaskDone } from "@svc/proto/world-task";
import { clampToSafeInteger, type Restored, restorePaths, restoreWorld } from "@svc/world";
import type { Context } from "../context.ts";
import { openSource } from "./source.ts";

/** Archive -> world: all of it, or some files and folders laid over what is there. */
export async function restore(task: Task & { mode: "restore" }, context: Context): Promise<TaskDone> {
  await using source = await openSource(task.from, context);
  const { world, signal, onProgress } = context;
  const plan = { world, archive: source.file, sha256: task.sha256, signal, onProgress };
  const restored: Restored = task.only
    ? await restorePaths({ ...plan, only: task.only })
    : await restoreWorld({ ...plan, compare: task.compare });
  const { entries, files, bytes, removed } = restored;
  return { entries, files, bytes: clampToSafeInteger(bytes), removed };
}
