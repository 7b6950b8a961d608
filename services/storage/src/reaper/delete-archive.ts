// Deletes archives: first the backup expires, so that nobody starts to read it, then the file is deleted, then the row
// records it. A process that dies in between leaves a row that the next run finds again.

import type { Candidate } from "./evict-plan.ts";
import { countAndNote, type Run } from "./run.ts";
import { evictCopied, evictManual, findBackupById, markDeleted, takeForDeletion } from "./store.ts";

/** False when the backup is still needed. Throws when the file cannot be deleted. */
export async function deleteArchive(run: Run, backup: { id: string; backup_ref: string }): Promise<boolean> {
  const { db, now } = run.deps;
  if (!(await takeForDeletion(db, backup.id, new Date(now())))) return false;
  await run.folder.remove(backup.backup_ref);
  await markDeleted(db, backup.id, new Date(now()));
  return true;
}

/** Copies that were not seen since then do not count. */
export function confirmedSince({ deps }: Run): Date {
  return new Date(deps.now() - deps.settings.storage.offsite_confirm_age);
}

/** Expires backups and deletes their archives to free space; false when one of them is needed meanwhile. */
export async function evict(run: Run, candidates: readonly Candidate[]): Promise<boolean> {
  const { db, now } = run.deps;
  const since = confirmedSince(run);
  for (const { id, reason } of candidates) {
    const found = await findBackupById(db, id);
    if (found?.status !== "present") return false;
    const isGone =
      reason === "manual" ? await evictManual(db, id, new Date(now())) : await evictCopied(db, id, since);
    if (!isGone) return false;
    try {
      if (!(await deleteArchive(run, found))) return false;
    } catch (error) {
      countAndNote(run, "expire_failed", `archive of backup ${id}: ${(error as Error).message}`);
      return false;
    }
    countAndNote(run, "evicted", `backup ${id} of ${found.server_name} was deleted to free space`);
  }
  return true;
}
