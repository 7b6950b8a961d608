import type { Task, TaskDone } from "@svc/proto/world-task";
import {
  clampToSafeInteger,
  isSameWorld,
  isWorldFault,
  openArchive,
  readChunks,
  verifyArchive,
} from "@svc/world";
import type { Context } from "../context.ts";
import { openSource } from "./source.ts";

type Verification = Task & { mode: "verify" };

/** Reads an archive to its end and, when asked, holds the world against it. */
export async function verify(task: Verification, context: Context): Promise<TaskDone> {
  // The digest of the whole tells as much as those of its chunks, but not which of them is damaged.
  const isCompared = task.sha256 !== undefined && !task.compare;
  try {
    return await readToEnd(task, { context, isCompared });
  } catch (error) {
    if (isCompared && isWorldFault(error, "backup_corrupt")) await nameDamage(task, context);
    throw error;
  }
}

async function readToEnd(
  task: Verification,
  { context, isCompared }: { context: Context; isCompared: boolean },
): Promise<TaskDone> {
  await using source = await openSource(task.from, context, { isCompared });
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

/** Throws when a chunk of a deduplicated archive is damaged, and names it. */
async function nameDamage({ from }: Verification, context: Context): Promise<void> {
  if (from.kind !== "archive") return;
  await using source = await openSource(from, context);
  await readChunks(source.file, context.signal);
}
