// Moves of worlds from one node to another (docs/reference/moves.md#begin, docs/reference/moves.md#states).
// Vocabulary: migration = one move of one world; stage = what it does or, when it failed, what it was doing;
// switched = the server runs on the new volume from now on. The old volume is kept for ever.

import { z } from "zod";
import { event, operation, request } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { ByteCount, Sha256Hex, Timestamp } from "../text.ts";

const name = { name: ServerNameParam };
const id = { id: z.string().min(1).max(64) };

export const MigrationState = z.enum(["backing_up", "restoring", "switching", "succeeded", "failed"]);
export type MigrationState = z.output<typeof MigrationState>;

/** One move of a world (docs/reference/moves.md#states). */
export const WorldMigration = z.strictObject({
  id: z.string(),
  server: z.string(),
  state: MigrationState,
  stage: z.string(),
  sourceNode: z.string(),
  targetNode: z.string(),
  sourcePVC: z.string(),
  targetPVC: z.string(),
  /** What carries the world over; empty strings and 0 until it is written. */
  backup: z.strictObject({ ref: z.string(), size: ByteCount, sha256: z.union([z.literal(""), Sha256Hex]) }),
  started: Timestamp,
  updated: Timestamp,
  switched: z.boolean(),
  /** 1 for the first try. */
  attempt: z.number().int(),
  error: z.string().optional(),
  /** Set once it was cancelled: it counts as failed, and another move may begin. */
  cancelled: z.literal(true).optional(),
});
export type WorldMigration = z.output<typeof WorldMigration>;

const busy = ["not_stopped", "maintenance_in_progress", "world_reclaiming", "no_world_volume"] as const;
const target = ["bad_node", "node_unavailable"] as const;

export const begin = operation({
  subject: "storage.migration.begin",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/migrations",
    face: "external",
    tier: "admin",
    status: 202,
  },
  params: name,
  body: { targetNode: z.string().min(1).max(253) },
  output: WorldMigration,
  faults: ["bad_name", "not_found", "system_server", ...target, ...busy],
  deadlineMs: 20_000,
  summary:
    "Moves the world of a stopped server to another node; the same target again answers the same move.",
  spec: "docs/reference/moves.md#begin",
});

export const list = operation({
  subject: "storage.migration.list",
  http: { method: "GET", path: "/api/v1/migrations", face: "external", tier: "admin" },
  output: z.strictObject({ migrations: z.array(WorldMigration).max(100) }),
  summary: "Moves that are under way or failed, then the latest that ended; at most 100.",
  spec: "docs/reference/moves.md#begin",
});

export const readLatest = operation({
  subject: "storage.migration.read-latest",
  http: { method: "GET", path: "/api/v1/servers/{name}/migrations", face: "external", tier: "admin" },
  params: name,
  output: WorldMigration,
  faults: ["bad_name", "not_found"],
  summary: "The latest move of a server's world.",
  spec: "docs/reference/moves.md#begin",
});

export const read = operation({
  subject: "storage.migration.read",
  http: { method: "GET", path: "/api/v1/servers/{name}/migrations/{id}", face: "external", tier: "admin" },
  params: { ...name, ...id },
  output: WorldMigration,
  faults: ["bad_name", "not_found"],
  summary: "One move of a server's world.",
  spec: "docs/reference/moves.md#begin",
});

export const retry = operation({
  subject: "storage.migration.retry",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/migrations/{id}/retry",
    face: "external",
    tier: "admin",
    status: 202,
  },
  params: { ...name, ...id },
  output: WorldMigration,
  faults: ["bad_name", "not_found", "migration_not_failed", ...target, ...busy],
  deadlineMs: 20_000,
  summary: "Retries a failed move from the step that failed.",
  spec: "docs/reference/moves.md#begin, docs/reference/moves.md#failure",
});

export const cancel = operation({
  subject: "storage.migration.cancel",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/migrations/{id}/cancel",
    face: "external",
    tier: "admin",
    status: 202,
  },
  params: { ...name, ...id },
  output: WorldMigration,
  faults: ["bad_name", "not_found", "migration_over"],
  deadlineMs: 20_000,
  summary:
    "Cancels a move before its switch: its Jobs, the new volume and at last the lock are removed; the world stays where it is.",
  spec: "docs/reference/moves.md#failure",
});

const operatorCalls = { callers: ["operator"], output: WorldMigration, deadlineMs: 20_000 } as const;

export const beginByOperator = request({
  subject: "storage.migration.begin-by-operator",
  input: { ...name, targetNode: z.string().min(1).max(253) },
  faults: begin.faults,
  ...operatorCalls,
  summary: "As begin, for the operator at the host.",
  spec: "docs/reference/moves.md#failure",
});

export const readByOperator = request({
  subject: "storage.migration.read-by-operator",
  input: name,
  faults: readLatest.faults,
  ...operatorCalls,
  idempotent: true,
  summary: "The latest move of a server's world, for the operator at the host.",
  spec: "docs/reference/moves.md#failure",
});

export const retryByOperator = request({
  subject: "storage.migration.retry-by-operator",
  input: { ...name, ...id },
  faults: retry.faults,
  ...operatorCalls,
  summary: "As retry, for the operator at the host.",
  spec: "docs/reference/moves.md#failure",
});

export const cancelByOperator = request({
  subject: "storage.migration.cancel-by-operator",
  input: { ...name, ...id },
  faults: cancel.faults,
  ...operatorCalls,
  summary: "As cancel, for the operator at the host.",
  spec: "docs/reference/moves.md#failure",
});

const about = { id: z.string(), server_name: z.string(), at: z.iso.datetime() };
const sample = { id: "0a1b2c3d0a1b2c3d", server_name: "survival", at: "2026-01-01T00:00:00.000Z" };

export const migrationBegun = event({
  subject: "storage.migration.begun",
  data: z.object({ ...about, from: z.string(), to: z.string(), attempt: z.number() }),
  key: (data) => data.server_name,
  sample: { ...sample, from: "node-1", to: "node-2", attempt: 1 },
  summary: "A move of a world to another node was started or retried.",
});

export const migrationSucceeded = event({
  subject: "storage.migration.succeeded",
  data: z.object({ ...about, from: z.string(), to: z.string() }),
  key: (data) => data.server_name,
  sample: { ...sample, from: "node-1", to: "node-2" },
  summary: "A server's world was moved to another node.",
});

export const migrationFailed = event({
  subject: "storage.migration.failed",
  data: z.object({ ...about, stage: z.string(), message: z.string() }),
  key: (data) => data.server_name,
  sample: { ...sample, stage: "restoring", message: "no space" },
  summary: "A move failed; the world is where it was and stays locked until the move is retried.",
});

export const migrationCancelled = event({
  subject: "storage.migration.cancelled",
  data: z.object({ ...about, by: z.string() }),
  key: (data) => data.server_name,
  sample: { ...sample, by: "usr-1" },
  summary: "A move was cancelled; the world is where it was, and unlocked.",
});
