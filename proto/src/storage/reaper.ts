// The daily batch that archives idle worlds and keeps the store in order (docs/reference/reaper.md#order).
// Vocabulary: run = one pass over everything; retention-only = it expires, reads back and sweeps, and touches no world.

import { z } from "zod";
import { request } from "../contract.ts";
import { Timestamp } from "../text.ts";

/** One run, as `svc reaper` tells of it. */
export const ReaperRun = z.strictObject({
  id: z.string(),
  state: z.enum(["running", "succeeded", "failed"]),
  retention_only: z.boolean(),
  started_by: z.string(),
  started_at: Timestamp,
  finished_at: Timestamp.optional(),
  /** `svc reaper: evaluated=… reaped=…`, as far as the run has come. */
  line: z.string(),
  summary: z.record(z.string(), z.number().int()),
  /** Items that need attention, and orphan archives; at most 50. */
  notes: z.array(z.string()),
  message: z.string().optional(),
});
export type ReaperRun = z.output<typeof ReaperRun>;

export const startReaper = request({
  subject: "storage.reaper.start",
  input: { retention_only: z.boolean().default(false), started_by: z.string().max(128).default("operator") },
  output: ReaperRun,
  callers: ["operator"],
  idempotent: true,
  summary: "Starts a run now, or returns the running one.",
  spec: "docs/reference/reaper.md#order, docs/reference/reaper.md#summary",
});

export const readReaper = request({
  subject: "storage.reaper.read",
  /** The newest run without an id. */
  input: { id: z.string().max(64).optional() },
  output: ReaperRun,
  faults: ["not_found"],
  callers: ["operator"],
  idempotent: true,
  summary: "State of a reaper run.",
  spec: "docs/reference/reaper.md#order, docs/reference/reaper.md#summary",
});
