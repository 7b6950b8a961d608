// Deletes the content of deduplicated archives that nothing refers to any more (docs/reference/backups.md#packs).

import { Folder, sweepPacks } from "@svc/world";
import { addNote, count, type Run } from "./run.ts";
import { findRecordedArchives } from "./store.ts";

/**
 * No Job that looked at the folder before a pack was retired still runs when it is deleted, even where a network file system
 * shows another node what happened with a delay.
 */
function longestOf({ archive, storage }: Run["deps"]["settings"]): number {
  const { backup_deadline, restore_deadline, verify_deadline } = storage;
  return Math.max(archive.pack_grace, 2 * Math.max(backup_deadline, restore_deadline, verify_deadline));
}

/** Without a record of any archive nothing is deleted: the database looks lost. */
export async function sweepChunks(run: Run): Promise<void> {
  const { db, now, settings } = run.deps;
  const recorded = await findRecordedArchives(db);
  if (recorded.size === 0) return;
  try {
    await using folder = await Folder.openRoot(settings.archive.local_path);
    const graceMs = longestOf(settings);
    const swept = await sweepPacks(folder, { recorded, now: now(), graceMs, signal: run.signal });
    run.metrics.packsSwept(swept);
    count(run, "swept", swept.deleted);
    for (const { server, reason } of swept.held)
      addNote(run, `content that ${server} no longer needs was kept: ${reason}`);
  } catch (error) {
    run.signal.throwIfAborted();
    run.isSweepComplete = false;
    addNote(run, `packs could not be swept: ${(error as Error).message}`);
  }
}
