// What an account may own (docs/reference/claims.md#quota).

import { z } from "zod";
import { operation, request } from "../contract.ts";

const limit = z.number().int().min(0).max(2_147_483_647).nullable();

/** null means unlimited, 0 grants none. */
export const Limits = z.strictObject({
  max_servers: limit,
  max_cpu_milli: limit,
  max_memory_mb: limit,
  max_storage_gb: limit,
});
export type Limits = z.output<typeof Limits>;

export const readLimits = request({
  subject: "identity.quota.read-limits",
  input: { user_id: z.string().min(1).max(64) },
  output: z.strictObject({
    limits: Limits,
    /** False for a disabled or deleted account: it may own nothing new. */
    active: z.boolean(),
  }),
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "The limits of one account; all null when none are set.",
  spec: "docs/reference/claims.md#claim",
});

/** docs/reference/claims.md#quota. */
const QuotaView = Limits.extend({ user_id: z.string() });

const id = { id: z.string().min(1).max(64) };
const path = "/api/v1/users/{id}/quotas";

export const read = operation({
  subject: "identity.quota.read",
  http: { method: "GET", path, face: "external", tier: "owner" },
  params: id,
  output: QuotaView,
  faults: ["not_found"],
  summary: "What a user may own; null means unlimited.",
  spec: "docs/reference/claims.md#quota",
});

/** Only whole numbers here; the owner checks the range, which has its own code. */
const given = z.number().int().nullable().optional();

export const write = operation({
  subject: "identity.quota.write",
  http: { method: "PUT", path, face: "external", tier: "owner" },
  params: id,
  body: { max_servers: given, max_cpu_milli: given, max_memory_mb: given, max_storage_gb: given },
  output: QuotaView,
  faults: ["not_found", "invalid_quota"],
  onceById: true,
  summary: "Replaces all four limits at once; one left out is unlimited. Existing servers are untouched.",
  spec: "docs/reference/claims.md#quota",
});
