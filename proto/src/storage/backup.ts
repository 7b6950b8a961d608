// Backups of worlds (api.md A15; interface.md 2.10, 3.4; behaviour.md h, i.2).
// Vocabulary: archive = the file; backup = its row; run = one attempt to make one.

import { z } from "zod";
import { request } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";

export const startScheduledBackup = request({
  subject: "storage.backup.start-scheduled",
  input: {
    name: ServerNameParam,
    /** Names the run of the schedule: a repeat answers the job that the first call started. */
    run_key: z.string().min(1).max(64),
    created_by: z.string().max(128),
  },
  output: z.strictObject({ job: z.string() }),
  faults: [
    "not_found",
    "not_stopped",
    "maintenance_in_progress",
    "no_world_volume",
    "backup_store_full",
    "restore_in_progress",
  ],
  callers: ["lifecycle"],
  idempotent: true,
  summary: "Starts the backup of a scheduled task on a stopped server.",
  spec: "behaviour.md i.3 stopping",
});

export const readBackupRun = request({
  subject: "storage.backup.read-run",
  input: { job: z.string().min(1).max(128) },
  output: z.strictObject({
    state: z.enum(["running", "succeeded", "failed"]),
    message: z.string().optional(),
  }),
  faults: ["not_found"],
  callers: ["lifecycle"],
  idempotent: true,
  summary: "How a started backup stands.",
  spec: "behaviour.md i.3 backing_up",
});
