// Deletes expired archives, verifies some, and sweeps unknown files (docs/reference/reaper.md#summary).

import { statfs } from "node:fs/promises";
import { notices } from "@svc/proto";
import { parseStoreName } from "@svc/world";
import { clearBackupCorrupt, findDeletable } from "../backup/store.ts";
import type { BackupRow } from "../database/tables.ts";
import { deleteArchive } from "./delete-archive.ts";
import { readBack, recordRead } from "./read-back.ts";
import { addNote, count, countAndNote, type Run } from "./run.ts";
import { findClaimedNames, findCorrupt, findUnread } from "./store.ts";

const batch = 200;
const maxOrphansNamed = 5;

/** Whether the archive file system is low on space while there are archives that may be deleted. */
export async function isSpaceLow({ db, settings, now }: Run["deps"]): Promise<boolean> {
  const { keep_free, reaper_short_factor } = settings.storage;
  const known = await statfs(settings.archive.local_path).catch(() => undefined);
  if (!known || known.bavail >= known.blocks * keep_free * reaper_short_factor) return false;
  return (await findDeletable(db, new Date(now()), 1)).length > 0;
}

/** Deletes the archives of all expired backups. */
export async function expireArchives(run: Run): Promise<void> {
  const { db, now } = run.deps;
  const tried = new Set<string>();
  for (;;) {
    const rows = await findDeletable(db, new Date(now()), batch + tried.size);
    const next = rows.filter(({ id }) => !tried.has(id));
    if (next.length === 0) return;
    for (const row of next) {
      run.signal.throwIfAborted();
      tried.add(row.id);
      await expireOne(run, row);
    }
  }
}

async function expireOne(run: Run, row: BackupRow): Promise<void> {
  try {
    if (await deleteArchive(run, row)) count(run, "expired");
  } catch (error) {
    countAndNote(run, "expire_failed", `archive of backup ${row.id}: ${(error as Error).message}`);
  }
}

/** Verifies the archives whose last verification is the oldest, a few per run. */
export async function readArchives(run: Run): Promise<void> {
  const { db, now, settings } = run.deps;
  const { agent_image, reaper_read_backs, reaper_read_back_age } = settings.storage;
  if (agent_image === "") return addNote(run, "no archives were verified: storage.agent_image is empty");
  const rows = await findUnread(db, new Date(now() - reaper_read_back_age), 2 * reaper_read_backs);
  let left = reaper_read_backs;
  for (const row of rows) {
    if (left === 0) break;
    run.signal.throwIfAborted();
    const result = await readBack(run.deps, row, { signal: run.signal });
    await recordRead(run, row, result);
    if (result.kind === "corrupt") await notifyOwner(run, row);
    // One that cannot be read now stays first in line, and must not block the others.
    if (result.kind !== "unreadable") left -= 1;
  }
  await recheckCorrupt(run);
}

/** Archives in a folder that was not mounted for a while look as if they were gone. */
async function recheckCorrupt(run: Run): Promise<void> {
  const { db, now, settings } = run.deps;
  for (const row of await findCorrupt(db, settings.storage.reaper_second_looks)) {
    run.signal.throwIfAborted();
    const { kind } = await readBack(run.deps, row, { signal: run.signal });
    if (kind !== "whole") continue;
    await clearBackupCorrupt(db, row.id, new Date(now()));
    addNote(run, `backup ${row.id} of ${row.server_name} is whole again and can be restored`);
  }
}

async function notifyOwner(run: Run, { former_owner, server_name, created_at }: BackupRow): Promise<void> {
  if (former_owner === null) return;
  const facts = { server: server_name, at: created_at.toISOString() };
  await run.deps.mesh
    .call(notices.sendNotice, { user_id: former_owner, kind: "backup-corrupt", facts })
    .catch((error: Error) =>
      run.deps.log.warn({ server: server_name, error: error.message }, "owner notification failed"),
    );
}

/** Deletes abandoned partial files, and archives without a record that are older than the retention. */
export async function sweepFolder(run: Run): Promise<void> {
  const { db, now, settings } = run.deps;
  // The folder is listed before the rows are read, so that a new archive is not taken for an orphan.
  const listed = await run.folder.list().catch((error: Error) => {
    run.isSweepComplete = false;
    addNote(run, `the archive folder cannot be read: ${error.message}`);
  });
  if (!listed) return;
  if (!listed.isComplete) run.isSweepComplete = false;
  const { names, hasRows } = await findClaimedNames(db);
  const orphans: string[] = [];
  for (const { name, archive, kind, changedAt } of listed.files) {
    // The lease of a deduplicated backup is not written to until the end.
    if (names.has(name) || (isLease(name) && names.has(archive))) continue;
    const ageMs = now() - changedAt;
    if (kind === "partial") {
      if (ageMs > settings.storage.reaper_partial_age) await sweepOne(run, name);
    } else if (hasRows && ageMs > settings.archive.retention) {
      await sweepOne(run, name);
    } else {
      orphans.push(name);
    }
  }
  count(run, "orphan_archives", orphans.length);
  if (orphans.length > 0) {
    addNote(
      run,
      `archives without a backup record, kept for now: ${orphans.slice(0, maxOrphansNamed).join(", ")}`,
    );
  }
}

const isLease = (name: string) => parseStoreName(name)?.kind === "lease";

async function sweepOne(run: Run, name: string): Promise<void> {
  try {
    await run.folder.remove(name);
    count(run, "swept");
  } catch (error) {
    run.isSweepComplete = false;
    addNote(run, `${name} could not be removed: ${(error as Error).message}`);
  }
}
