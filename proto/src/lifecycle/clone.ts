// Copies of a server (docs/reference/clones.md#clone).

import { z } from "zod";
import { event, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";

/** Where the world of a clone comes from; `none`: it has none before its first start. */
export const CloneWorld = z.enum(["none", "newest_backup", "new_backup"]);

/** Settings of the source that a clone does not take over. */
export const LeftOut = z.enum(["env", "reaperExempt"]);

export const create = operation({
  subject: "lifecycle.clone.create",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/clone",
    face: "external",
    tier: "admin",
    status: 201,
  },
  params: { name: ServerNameParam },
  body: {
    /** Name of the new server. */
    as: z.string().max(64),
    /** Its name when absent. */
    subdomain: z.string().max(64).optional(),
    displayName: z.string().max(256).optional(),
    nodeName: z.string().max(253).optional(),
    world: CloneWorld.default("newest_backup"),
    /** This backup of the source in place of its newest one. */
    backup_id: z.string().min(1).max(64).optional(),
    /** Whether the players of the source may wake the clone too; default false. */
    allowlist: z.boolean().default(false),
    /** Id of the account that owns it from the start; nobody does when absent. */
    owner: z.string().min(1).max(64).optional(),
    /** Whether players may claim it while it has no owner; default false. */
    claimable: z.boolean().default(false),
  },
  output: z.strictObject({
    name: z.string(),
    subdomain: z.string(),
    source: z.string(),
    desiredState: z.literal("Stopped"),
    /** `copying`: it cannot be started before its world is there. */
    world: z.enum(["none", "copying"]),
    /** Absent without a world, and while the backup is still to be made. */
    backup_id: z.string().optional(),
    left_out: z.array(LeftOut),
  }),
  faults: [
    "quota_exceeded",
    "bad_node",
    "bad_name",
    "bad_subdomain",
    "bad_display_name",
    "not_found",
    "no_backup",
    "backup_corrupt",
    "not_stopped",
    "no_world_volume",
    "maintenance_in_progress",
    "world_reclaiming",
    "image_not_whitelisted",
    "image_not_in_registry",
    "image_without_provenance",
    "name_taken",
    "subdomain_taken",
    "world_volume_exists",
    "registry_unavailable",
  ],
  onceById: true,
  deadlineMs: 20_000,
  summary:
    "Makes a stopped server with the settings of another one, without its world or with it from a backup.",
  spec: "docs/reference/clones.md#clone",
});

/** How the world of a clone comes to it; also kept on its object, from which the leader publishes it again. */
export const CloneOrder = z.object({
  id: z.string(),
  source: z.string(),
  /** Absent: one is made first. */
  backup_id: z.string().optional(),
  /** Value of the lock annotation that keeps the clone from starting until then. */
  lock: z.string(),
  by: z.string(),
  at: Timestamp,
});
export type CloneOrder = z.output<typeof CloneOrder>;

export const cloned = event({
  subject: "lifecycle.clone.ordered",
  data: CloneOrder.extend({ name: z.string() }),
  key: (data) => data.name,
  sample: {
    name: "survival-copy",
    id: "0123456789abcdef0123",
    source: "survival",
    backup_id: "bk-1",
    lock: "migration@2026-01-01T00:00:00.000Z",
    by: "usr-1",
    at: "2026-01-01T00:00:00.000Z",
  },
  summary: "A server was made as a clone and waits for its world.",
});
