import type { Task, TaskDone } from "@svc/proto/world-task";
import { clampToSafeInteger, isSameWorld, openArchive, verifyArchive } from "@svc/world";
import type { Context } from "../context.ts";
import { openSource } from "./source.ts";

/** Reads an archive to its end and, when asked, holds the world against it. */
export async function verify(task: Task & { mode: "verify" }, context: Context): Promise<TaskDone> {
  await using source = await openSource(task.from, context);
  const archive = await openArchive(source.file);
  const verified = await verifyArchive(archive, {
    sha256: task.sha256,
    signal: context.signal,
    onProgress: (done) => context.onProgress(done, archive.size),
  });
  const { sizeBytes, sha256, entries, files, bytes } = verified;
  const same = task.compare ? await isSameWorld(context.world, archive, verified) : undefined;
  return {
    size_bytes: sizeBytes,
    sha256,
    entries,
    files,
    bytes: clampToSafeInteger(bytes),
    ...(same !== undefined && { same }),
  };
}
