// What the watchdog asks builds about its own work (docs/reference/alerts.md#conditions).

import { z } from "zod";
import { request } from "../contract.ts";
import { Timestamp } from "../text.ts";

export const BuildsHealth = z.strictObject({
  /** Builds that failed within 6 hours, without those that were cancelled. */
  failed: z.number().int().min(0),
  /** The newest of them. */
  newest_failure: z.strictObject({ id: z.string(), error: z.string(), finished_at: Timestamp }).optional(),
  /** The newest scan with a database of vulnerabilities, and when that database was made. */
  newest_scan: z.strictObject({ scanned_at: Timestamp, database_at: Timestamp }).optional(),
  /** Images that are allowed or in use and that today's policy blocks, absent without any; and the first of them by name. */
  flagged: z.number().int().min(0).optional(),
  first_flagged: z.strictObject({ image_ref: z.string(), build_id: z.string() }).optional(),
});
export type BuildsHealth = z.output<typeof BuildsHealth>;

export const readBuildsHealth = request({
  subject: "builds.health.read",
  input: {},
  output: BuildsHealth,
  callers: ["ops-watchdog", "operator"],
  idempotent: true,
  summary: "Builds that failed and the age of the scanner's database, for the watchdog.",
  spec: "docs/reference/alerts.md#conditions",
});
