// Drills of backups (docs/reference/backups.md#drill).

import { z } from "zod";
import { operation } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { Timestamp } from "../text.ts";
import { BackupId } from "./backup.ts";
import { TaskFaultCode } from "./world-task.ts";

const name = { name: ServerNameParam };
const path = "/api/v1/servers/{name}/drills";
const external = { face: "external", tier: "app", path } as const;

/** Why a drill failed: what its restore refused, or what became of its server. */
export const DrillCode = z.enum([
  ...TaskFaultCode.options,
  "job_failed",
  "drill_late",
  "world_gone",
  "backup_gone",
  "never_started",
  "server_exited",
  "server_not_ready",
  "drill_failed",
]);
export type DrillCode = z.output<typeof DrillCode>;

/** One proof of a backup. */
export const Drill = z.strictObject({
  id: z.string(),
  server_name: z.string(),
  backup_id: z.string(),
  state: z.enum(["restoring", "booting", "passed", "failed"]),
  message: z.string().optional(),
  /** Beside every message. */
  code: DrillCode.optional(),
  /** What the server said of itself when it was asked for its status. */
  version: z.string().optional(),
  boot_seconds: z.number().optional(),
  started_at: Timestamp,
  finished_at: Timestamp.optional(),
});
export type Drill = z.output<typeof Drill>;

export const begin = operation({
  subject: "storage.drill.begin",
  http: { method: "POST", status: 202, ...external, rights: ["backups.make"] },
  params: name,
  body: { backup_id: BackupId.optional() },
  bodyOptional: true,
  output: Drill,
  faults: ["bad_name", "not_found", "no_backup", "backup_corrupt", "no_world_volume", "drill_busy"],
  onceById: true,
  summary: "Proves a backup: restores it into a scratch volume and boots the server there.",
  spec: "docs/reference/backups.md#drill",
});

export const list = operation({
  subject: "storage.drill.list",
  http: { method: "GET", ...external, rights: ["see"] },
  params: name,
  output: z.strictObject({ server: z.string(), drills: z.array(Drill) }),
  faults: ["bad_name", "not_found"],
  summary: "Drills of a server's backups that the caller may see, newest first.",
  spec: "docs/reference/backups.md#drill",
});
