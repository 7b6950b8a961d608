// What is known of off-site copies (docs/reference/off-site.md#status). They are made by ops-watchdog and `svc offsite`.
// Vocabulary: pass = one run of `svc offsite sync`; writer = the one installation that may write to the bucket;
// missing = a copy that should be in the bucket and is not; not whole = one of another size.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Timestamp } from "../text.ts";

const count = z.number().int().min(0);

/** Kinds of what is copied, in the order of a pass. */
export const OffsiteKind = z.enum(["db", "worlds", "images", "uploads"]);
export type OffsiteKind = z.output<typeof OffsiteKind>;

/** Some copies, as the newest finished pass left them. */
export const OffsiteCopies = z.strictObject({
  /** Objects in the bucket, and their sealed bytes. */
  objects: count,
  bytes: count,
  /** What has no whole copy although it should, the first hundred by key; `missing_count` counts all. */
  missing: z.array(z.string()).max(100),
  missing_count: count,
  /** Copies with the wrong size, likewise. */
  not_whole: z.array(z.string()).max(100),
  not_whole_count: count,
});
export type OffsiteCopies = z.output<typeof OffsiteCopies>;

/** Copies of worlds in packs. */
export const OffsitePacked = z.strictObject({
  /** Archives whose whole copy is in packs, and what they would take as whole files. */
  copies: count,
  whole_bytes: count,
  /** Packs in the bucket, also those that nothing names any more; `bytes` counts the manifests of the copies too. */
  packs: count,
  bytes: count,
});
export type OffsitePacked = z.output<typeof OffsitePacked>;

/** The copies of one kind. */
export const OffsiteKindStatus = OffsiteCopies.extend({
  kind: OffsiteKind,
  /** Only of worlds, and only where the bucket has something in packs. */
  packed: OffsitePacked.optional(),
});
export type OffsiteKindStatus = z.output<typeof OffsiteKindStatus>;

/** `standby`: another installation is the writer; `wrong_key`: the bucket is sealed with another key. */
const OffsitePassState = z.enum(["running", "completed", "incomplete", "failed", "standby", "wrong_key"]);

/** How far a running pass is. */
export const OffsiteProgress = z.strictObject({
  kind: OffsiteKind,
  objects_done: count,
  objects_total: count,
  bytes_done: count,
  bytes_total: count,
  /** Missing until there is something to estimate from. */
  eta_seconds: count.optional(),
});
export type OffsiteProgress = z.output<typeof OffsiteProgress>;

/** One pass. `incomplete`: it came to its end, and some objects failed. */
export const OffsitePass = z.strictObject({
  state: OffsitePassState,
  started_at: Timestamp,
  finished_at: Timestamp.optional(),
  sent: count,
  sent_bytes: count,
  deleted: count,
  failed: count,
  /** At most 50. */
  failures: z.array(z.strictObject({ key: z.string(), error: z.string() })).max(50),
  /** Why it ended early. */
  error: z.string().optional(),
  progress: OffsiteProgress.optional(),
});
export type OffsitePass = z.output<typeof OffsitePass>;

const OffsiteWriter = z.strictObject({
  host_id: z.string(),
  name: z.string(),
  last_run_at: Timestamp,
  is_this_host: z.boolean(),
});

/** What the store was found able to do. */
export const OffsiteStore = z.strictObject({
  /** Whether the store itself keeps two writers apart. */
  conditional_put: z.boolean(),
  /** `enabled`: deleted and replaced objects can be recovered. `unknown`: the credential may not ask. */
  versioning: z.enum(["enabled", "suspended", "off", "unknown"]),
  /** `none`: object lock is on, and new objects get none by themselves. */
  object_lock: z.enum(["governance", "compliance", "none", "off", "unknown"]),
  object_lock_days: z.number().int().optional(),
  /** By how much its clock is ahead of this host's, below zero behind; only where that is more than 15 minutes. */
  clock_ahead_seconds: z.number().int().optional(),
});
export type OffsiteStore = z.output<typeof OffsiteStore>;

export const OffsiteStatus = z.strictObject({
  /** False without a bucket: then nothing else is known. */
  configured: z.boolean(),
  endpoint: z.string().optional(),
  bucket: z.string().optional(),
  prefix: z.string().optional(),
  key_id: z.string().optional(),
  writer: OffsiteWriter.optional(),
  store: OffsiteStore.optional(),
  /** Only with `offsite.packs`; `locked`: the store locks objects, so copies are whole all the same. */
  packs: z.enum(["on", "locked"]).optional(),
  /** The running pass, else the newest. */
  last: OffsitePass.nullable(),
  /** When the newest pass without a failure ended. */
  last_completed_at: Timestamp.optional(),
  /** No pass was completed for as long as the limit. */
  stale: z.boolean(),
  max_age_seconds: count,
  kinds: z.array(OffsiteKindStatus),
  /** Of the log of the database; only with a point in time. */
  wal: z
    .strictObject({
      copies: OffsiteCopies.optional(),
      /** Which times can be recovered from them alone, up to the newest. */
      covered_from: Timestamp.optional(),
      covered_until: Timestamp.optional(),
      /** Nothing is covered, or nothing newer was sent for as long as the limit. */
      stale: z.boolean(),
    })
    .optional(),
  /** When a sample of copies was last opened to its last byte. */
  verified_at: Timestamp.optional(),
  /** Keys of copies that it found unusable and could not send again. */
  damaged: z.array(z.string()).max(100).optional(),
});
export type OffsiteStatus = z.output<typeof OffsiteStatus>;

export const readOffsite = operation({
  subject: "ops-watchdog.offsite.read-status",
  http: { method: "GET", path: "/api/v1/platform/offsite", face: "external", tier: "admin" },
  output: OffsiteStatus,
  summary:
    "Off-site copies: the newest pass and its progress, copies by kind, the writer, and what is missing.",
  spec: "docs/reference/off-site.md#status",
});
