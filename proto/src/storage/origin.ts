// Where the world of a clone comes from, and how far it has got (docs/reference/clones.md#world).

import { z } from "zod";
import { operation, request } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { Timestamp } from "../text.ts";
import { BackupId, busy } from "./backup.ts";
import { TaskFaultCode } from "./world-task.ts";

const params = { name: ServerNameParam };
const path = "/api/v1/servers/{name}/origin";

/** Why a clone has no world: what its restore refused, or what kept it from being made. */
export const OriginCode = z.enum([
  ...TaskFaultCode.options,
  "job_failed",
  "backup_gone",
  "backup_incomplete",
  "source_not_stopped",
  "no_world_volume",
  "copy_failed",
]);
export type OriginCode = z.output<typeof OriginCode>;

/** `given_up`: the clone is being deleted, or somebody else has unlocked it. */
export const OriginState = z.enum(["backing_up", "restoring", "done", "failed", "given_up"]);
export type OriginState = z.output<typeof OriginState>;

export const Origin = z.strictObject({
  source: z.string(),
  /** Absent until it was made. */
  backup_id: z.string().optional(),
  state: OriginState,
  message: z.string().optional(),
  /** Beside every message. */
  code: OriginCode.optional(),
  /** 1, and one more with each retry. */
  attempt: z.number().int(),
  started_at: Timestamp,
  finished_at: Timestamp.optional(),
});
export type Origin = z.output<typeof Origin>;

export const read = operation({
  subject: "storage.origin.read",
  http: { method: "GET", path, face: "external", tier: "app", rights: ["see"] },
  params,
  /** No origin: it is no clone, or one without a world. */
  output: z.strictObject({ server: z.string(), origin: Origin.optional() }),
  faults: ["bad_name", "not_found"],
  summary: "From which server and backup the world of a clone comes, and how far it has got.",
  spec: "docs/reference/clones.md#world",
});

export const retry = operation({
  subject: "storage.origin.retry",
  http: { method: "POST", path: `${path}/retry`, face: "external", tier: "admin", status: 202 },
  params,
  /** Another backup of the source in place of the first; absent: the same again. */
  body: { backup_id: BackupId.optional() },
  bodyOptional: true,
  output: z.strictObject({ server: z.string(), origin: Origin }),
  faults: ["bad_name", "not_found", "clone_not_failed", "no_backup", "backup_corrupt"],
  onceById: true,
  summary: "Tries again to bring the world to a clone after that failed.",
  spec: "docs/reference/clones.md#failed",
});

export const choose = request({
  subject: "storage.origin.choose",
  input: {
    /** The source. */
    ...params,
    /** Whether a backup is to be made; else the named one is looked up, or the newest sound one. */
    is_new: z.boolean(),
    backup_id: BackupId.optional(),
  },
  /** No id: one will be made. */
  output: z.strictObject({ backup_id: z.string().optional() }),
  faults: ["not_found", "no_backup", "backup_corrupt", ...busy],
  callers: ["lifecycle"],
  idempotent: true,
  summary: "Which backup a clone will get its world from; a new one can be made of a stopped server only.",
  spec: "docs/reference/clones.md#world",
});
