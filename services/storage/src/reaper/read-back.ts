// Verifies an archive, and compares a world with it.

import { randomBytes } from "node:crypto";
import type { TaskDone, TaskFault } from "@svc/proto/world-task";
import { archiveNameOf } from "../backup/row.ts";
import { markBackupCorrupt, markUnverified, markVerified } from "../backup/store.ts";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { runJob } from "../job/await.ts";
import type { Outcome } from "../job/outcome.ts";
import { count, countAndNote, type Run } from "./run.ts";

type ReadResult =
  | { kind: "whole"; sha256: string; isSameWorld: boolean }
  | { kind: "corrupt"; message: string }
  /** Not known: retried another day, and nothing relies on it. */
  | { kind: "unreadable"; message: string };

const corruptCodes: ReadonlySet<TaskFault["code"]> = new Set([
  "backup_corrupt",
  "digest_mismatch",
  "archive_invalid",
  "archive_unsafe",
  "archive_symlink",
  "type_conflict",
  "not_found",
]);

export async function readBack(
  deps: StorageDeps,
  backup: BackupRow,
  about: { claim?: string; signal: AbortSignal },
): Promise<ReadResult> {
  const { storage } = deps.settings;
  const { claim, signal } = about;
  const outcome = await runJob(
    deps,
    {
      name: `verify-${backup.server_name}-${randomBytes(5).toString("hex")}`,
      server: backup.server_name,
      manager: "svc-verify",
      task: {
        mode: "verify",
        from: { kind: "archive", name: archiveNameOf(backup) },
        sha256: backup.sha256,
        ...(claim !== undefined && { compare: true }),
      },
      deadlineMs: storage.verify_deadline,
      archive: "ro",
      ...(claim !== undefined && { world: { claim, mode: "ro" } }),
    },
    { timeoutMs: storage.verify_deadline + storage.reaper_job_patience, signal },
  );
  return decideReadResult(outcome, backup.sha256);
}

/** Pure. Only an existing archive that is not what was written is corrupt. */
function decideReadResult(outcome: Outcome, recorded: string): ReadResult {
  if (outcome.kind === "broken") return { kind: "unreadable", message: outcome.message };
  if (outcome.kind === "refused") {
    const { code, message } = outcome.fault;
    return { kind: corruptCodes.has(code) ? "corrupt" : "unreadable", message };
  }
  const { sha256, same }: TaskDone = outcome.done;
  if (sha256 === undefined) return { kind: "unreadable", message: "the job reported no digest" };
  if (sha256 !== recorded) return { kind: "corrupt", message: "the digest does not match" };
  return { kind: "whole", sha256, isSameWorld: same === true };
}

/** Records the result. */
export async function recordRead(run: Run, backup: BackupRow, result: ReadResult): Promise<void> {
  const { deps } = run;
  const now = new Date(deps.now());
  const { id, server_name } = backup;
  if (result.kind === "whole") {
    await markVerified(deps.db, id, now);
    return count(run, "verified");
  }
  const words = `backup ${id} of ${server_name}: ${result.message}`;
  if (result.kind === "unreadable") return countAndNote(run, "verify_failed", words);
  const about = { id, server_name, message: result.message, now };
  const isNew = await deps.db.transaction().execute((trx) => markBackupCorrupt(trx, about));
  if (await run.folder.isDeduplicated(backup.backup_ref))
    await markUnverified(deps.db, { server: server_name, except: id });
  countAndNote(run, "corrupt", words);
  if (isNew) deps.metrics.counted("condemned", backup.reason);
}
