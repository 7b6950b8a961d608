import type { Task, TaskDone } from "@svc/proto/world-task";
import {
  clampToSafeInteger,
  forwardingFilter,
  sendStream,
  storeArchive,
  storeDeduplicated,
  type Written,
  writeArchive,
} from "@svc/world";
import { limits } from "../config.ts";
import { type Context, targetOf } from "../context.ts";

/** World -> archive folder, or -> the internal face for a world that moves to another node. */
export async function backup(task: Task & { mode: "backup" }, context: Context): Promise<TaskDone> {
  const { to, keep_free, deduplicate = false, file_digests: fileDigests } = task;
  const written =
    to.kind === "archive"
      ? await store({ name: to.name, keepFree: keep_free, deduplicate, fileDigests }, context)
      : await send(to.url, context);
  for (const name of written.skippedNames) context.say(`left out: ${name}`);
  if (written.damage !== undefined) context.say(`an earlier archive is damaged: ${written.damage}`);
  return {
    ...(to.kind === "archive" && { archive: to.name }),
    size_bytes: written.sizeBytes,
    ...(written.addedBytes !== undefined && { added_bytes: written.addedBytes }),
    ...(written.damage !== undefined && { damage: written.damage }),
    sha256: written.sha256,
    entries: written.entries,
    skipped_entries: written.skipped,
    ...(written.skipped > 0 && { skipped_names: written.skippedNames }),
    ...(written.unreadable > 0 && { unreadable_entries: written.unreadable }),
    files: written.files,
    bytes: clampToSafeInteger(written.bytes),
  };
}

type Stored = Written & { addedBytes?: number; damage?: string };
type Place = { name: string; keepFree: number; deduplicate: boolean; fileDigests: boolean | undefined };

async function store({ deduplicate, ...place }: Place, context: Context): Promise<Stored> {
  const { world, archive, signal, onProgress } = context;
  const plan = { ...place, world, store: archive, signal, onProgress };
  return deduplicate && place.name.endsWith(".zst")
    ? await storeDeduplicated(plan)
    : await storeArchive(plan);
}

async function send(url: string, context: Context): Promise<Stored> {
  const { world, signal } = context;
  // From a node without the archive folder backups travel this way too.
  const filter = await forwardingFilter(world);
  let written: Written | undefined;
  const target = { ...targetOf(url, context), answerMs: limits.keptMs, contentType: "application/zstd" };
  await sendStream(target, async (write) => {
    written = await writeArchive(world, { compression: "zstd", filter, write, signal });
  });
  if (!written) throw new Error("nothing was sent");
  return written;
}
