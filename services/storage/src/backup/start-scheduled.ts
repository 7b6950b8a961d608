import type { Handler } from "@svc/mesh";
import type { backups } from "@svc/proto";
import type { JobRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { findJobByRunKey, findRestoreOf } from "../job/store.ts";
import { type BackupRequest, startBackup } from "./start.ts";

/** A concurrent call may have started this run's Job, or the answer of an earlier one was lost. */
async function startOnce(deps: StorageDeps, request: BackupRequest & { runKey: string }): Promise<JobRow> {
  try {
    return await startBackup(deps, request);
  } catch (error) {
    const made = await findJobByRunKey(deps.db, request.runKey).catch(() => undefined);
    if (made) return made;
    throw error;
  }
}

/** storage.backup.start-scheduled: one Job per run, however often it is called. */
export const startScheduled =
  (deps: StorageDeps): Handler<typeof backups.startScheduledBackup> =>
  async (context, { name, run_key, created_by }) => {
    const known = await findJobByRunKey(deps.db, run_key);
    if (known) return { job: known.job };
    if (await findRestoreOf(deps.db, name)) throw context.fault("restore_in_progress");
    const about = { actor: "scheduler", source: "internal:lifecycle", request_id: context.requestId };
    const row = await startOnce(deps, {
      server: name,
      reason: "scheduled",
      startedBy: created_by,
      limits: { cooldown: false, cap: true },
      check: () => {},
      runKey: run_key,
      audit: { ...about, action: "backup.scheduled", payload: { schedule: run_key } },
    });
    return { job: row.job };
  };
