// What an account may own (api.md A27; interface.md 2.23).

import { z } from "zod";
import { request } from "../contract.ts";

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
  spec: "architecture.md 4 Claim",
});
