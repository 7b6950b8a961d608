// Keeping the platform's registry small (docs/reference/registry.md#prune).
// Vocabulary: keeper = a reason for which a manifest stays; plan = what a run would delete.

import { z } from "zod";
import { request } from "../contract.ts";
import { Timestamp } from "../text.ts";

const count = z.number().int().min(0);
const Reference = z.strictObject({
  /** `repository:tag`, or `repository@sha256:...` for what has no tag. */
  ref: z.string(),
  digest: z.string(),
  pushed_at: Timestamp.optional(),
});

/** One pass over the registry. */
export const PruneRun = z.strictObject({
  /** True when nothing was to be deleted, whatever was found. */
  dry_run: z.boolean(),
  started_at: Timestamp,
  finished_at: Timestamp,
  manifests: count,
  kept: z.record(z.string(), count),
  /** At most 500; `deleted_count` counts all. */
  deleted: z.array(Reference).max(500),
  deleted_count: count,
});
export type PruneRun = z.output<typeof PruneRun>;

export const pruneRegistry = request({
  subject: "builds.registry.prune",
  input: { dry_run: z.boolean().default(true) },
  output: PruneRun,
  faults: ["registry_unavailable"],
  callers: ["operator"],
  idempotent: true,
  deadlineMs: 120_000,
  summary:
    "Deletes what nothing keeps from the registry; as a dry run, the plan. Any unreadable source ends it before.",
  spec: "docs/reference/registry.md#prune",
});
