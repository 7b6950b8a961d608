// What is known of the bundles of the database (docs/reference/database-backups.md#status). Pure.

import type { Output } from "../../api/operations.ts";

export type BackupStatus = Output<"databaseBackups.readStatus">;
export type Bundle = NonNullable<BackupStatus["bundles"]>[number];

/** What somebody has to do about the bundles, the worst first. */
export type BackupProblem =
  | "none-yet"
  | "no-daily"
  | "stale"
  | "rehearsal-failed"
  | "damaged"
  | "without-servers";

export function problemsOf({ last, stale, rehearsal, bundles = [] }: BackupStatus): BackupProblem[] {
  if (last === null && bundles.length === 0) return ["none-yet"];
  const hadDaily = last?.daily_at !== undefined || bundles.some(({ label }) => label === "daily");
  return [
    ...(stale ? [hadDaily ? ("stale" as const) : ("no-daily" as const)] : []),
    ...(rehearsal?.succeeded === false ? ["rehearsal-failed" as const] : []),
    ...(bundles.some(({ damage }) => damage !== undefined) ? ["damaged" as const] : []),
    ...(last?.servers_error === undefined ? [] : ["without-servers" as const]),
  ];
}

/** The command of the host that helps. */
export const commandOf: Record<BackupProblem, string> = {
  "none-yet": "svc db backup",
  "no-daily": "svc db backup --label daily",
  stale: "svc db backup --label daily",
  "rehearsal-failed": "svc db rehearse",
  damaged: "svc db verify",
  "without-servers": "svc db backup",
};
