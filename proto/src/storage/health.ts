// What the watchdog asks storage about its own work (docs/reference/alerts.md#conditions).

import { z } from "zod";
import { request } from "../contract.ts";
import { Timestamp } from "../text.ts";

const job = { job: z.string(), server: z.string(), kind: z.enum(["backup", "restore"]) };

export const StorageHealth = z.strictObject({
  /** Backups and restores that failed within 24 hours, newest first; at most 20. */
  failed_jobs: z.array(z.strictObject({ ...job, message: z.string(), finished_at: Timestamp })),
  /** Backups and restores that have run for more than 6 hours; at most 20. */
  stuck_jobs: z.array(z.strictObject({ ...job, started_at: Timestamp })),
  reaper: z.strictObject({
    /** When the first run began; absent before it. */
    first_run_at: Timestamp.optional(),
    last_success_at: Timestamp.optional(),
    /** The newest run, if it failed within 24 hours. */
    failed: z.strictObject({ id: z.string(), message: z.string() }).optional(),
  }),
  /** Restore points are not made because the store is full. */
  store_full: z.boolean(),
});
export type StorageHealth = z.output<typeof StorageHealth>;

export const readStorageHealth = request({
  subject: "storage.health.read",
  input: {},
  output: StorageHealth,
  callers: ["ops-watchdog", "operator"],
  idempotent: true,
  summary: "What failed or is stuck in storage, for the watchdog.",
  spec: "docs/reference/alerts.md#conditions",
});
