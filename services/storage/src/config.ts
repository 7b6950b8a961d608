// Every number of storage by name, with the value that the specification gives it as default (docs/reference/settings.md).

import { duration, offsiteSection, parseDuration, section, size } from "@svc/config";
import { z } from "zod";
import { moveSettings } from "./settings/move.ts";
import { reaperSettings } from "./settings/reaper.ts";
import { transferSettings } from "./settings/transfer.ts";

const whole = (fallback: number) => z.number().int().min(0).default(fallback);

export const settings = z.object({
  k8s: section({
    namespace: z.string().min(1).default("minecraft"),
    egress_mode: z.enum(["loadbalancer", "nodeport"]).default("loadbalancer"),
    metallb_pool: z.string().default(""),
  }),
  archive: section({
    /** Kind of archive store; only `tarLocal`. */
    store: z.literal("tarLocal").default("tarLocal"),
    /** Where the archive folder is mounted; the paths of backups are below it. */
    local_path: z.string().startsWith("/").default("/archive"),
    /** `zstd` writes `.tar.zst`, `gzip` writes `.tar.gz`; both are read. */
    compression: z.enum(["zstd", "gzip"]).default("zstd"),
    /** Backups store only what the newest one of the server does not have (docs/reference/backups.md#deduplicated); needs zstd. */
    deduplicate: z.boolean().default(false),
    /** Backups keep the SHA-256 of each file (docs/reference/backups.md#digests), which takes them 40 % longer; needs zstd. */
    file_digests: z.boolean().default(false),
    /** How long content stays after no archive refers to it; at least twice the longest deadline of a Job. */
    pack_grace: duration("1d"),
    /** How long the archive of a reclaimed or released world is kept. */
    retention: duration("3mo"),
    /** When the owner is warned before a world is archived, as spans before that. */
    warn_before: z
      .array(
        z.string().refine((text) => parseDuration(text) !== undefined, "must be a span such as 3d or 12h"),
      )
      .default(["3d", "1d"]),
    /** Total size of present backups above which owners can make no more; 0 = no cap. */
    max_local_bytes: size("0"),
    /** How long manual backups and safety snapshots are kept. */
    manual_retention: duration("30d"),
    /** Manual backups that are kept of one server, the newest. */
    manual_keep: whole(5).pipe(z.number().min(1)),
    /** Pause between two manual backups of a server; 0s = none. */
    manual_cooldown: duration("10m"),
    /** Backups that an account may keep pinned at once. */
    owner_pins: whole(10),
    /** Age at which a server's newest scheduled backup is followed by another; 0s = no scheduled backups. */
    scheduled_every: duration("1d"),
    /** Scheduled backups that are kept of one server, the newest. */
    scheduled_keep: whole(7).pipe(z.number().min(1)),
    /** How long scheduled backups are kept. */
    scheduled_retention: duration("90d"),
    /** Reserved; nothing reads it yet. */
    s3: z.record(z.string(), z.unknown()).default({}),
  }),
  storage: section({
    /** Image of world Jobs; empty = no backups, restores, exports or file changes. */
    agent_image: z.string().default(""),
    /** Command of that image; empty = its default command. */
    agent_command: z.array(z.string()).default([]),
    /** Volume claim of the archive folder in the game namespace. */
    archive_claim: z.string().min(1).default("svc-archive"),
    /** ServiceAccount of world Jobs; it has no Role. */
    job_account: z.string().min(1).default("world-jobs"),
    /** CPU of a world Job; its limit equals its request. */
    job_cpu: z.string().default("1"),
    /** Memory of a world Job; its limit equals its request. */
    job_memory: z.string().default("768Mi"),
    /** Share of the archive's file system that every backup leaves free (docs/reference/backups.md#create). */
    keep_free: z.number().min(0).max(1).default(0.1),
    /** Safety snapshots kept of a server (docs/reference/backups.md#create). */
    pre_restore_keep: whole(3).pipe(z.number().min(1)),

    /** Deadline of the Job of a backup. */
    backup_deadline: duration("30m"),
    /** Deadline of the Job of a restore. */
    restore_deadline: duration("30m"),
    /** Deadline of the Job of a verification. */
    verify_deadline: duration("30m"),
    /** Deadline of the Job that lists an archive's content. */
    browse_deadline: duration("2m"),
    /** How long a finished Job is kept once its result is recorded. */
    job_ttl: duration("10m"),
    /** How long a finished Job is kept whose result is not recorded: the longest outage without loss. */
    job_unnoted_ttl: duration("7d"),
    /** A row without a Job after this time was never started. */
    start_patience: duration("2m"),
    /** How often running work is checked (docs/reference/settings.md). */
    settle_interval: duration("5s"),
    /** The same while any Job runs: a restore continues this soon after its snapshot. */
    settle_busy_interval: duration("1s"),
    /** The same for Jobs, moves, drills and file changes while none is under way; PostgreSQL notifies of what starts. */
    idle_interval: duration("30s"),
    /** The longest pause between two polls of a Job with a waiting caller; the first ones follow sooner. */
    await_interval: duration("250ms"),
    /** How long finished Jobs are listed. */
    job_history: duration("30d"),
    /** Jobs of one server that are listed. */
    jobs_shown: whole(50).pipe(z.number().min(1).max(200)),
    /** Longest line read from a Job's log: a result may carry 1 MiB as base64. */
    log_line: size("2Mi"),

    /** How often storage checks for the next scheduled backup (docs/reference/backups.md#scheduled). */
    auto_backup_interval: duration("2m"),
    /** Share of its deadline for which a backup or restore delays scheduled backups of other worlds. */
    slot_share: z.number().min(0.01).max(1).default(0.25),
    /** Servers tried per round, at most. */
    auto_backup_tries: whole(10).pipe(z.number().min(1)),

    /** A maintenance lock that is not refreshed expires after this. */
    lock_ttl: duration("2m"),
    /** How often it is refreshed. */
    lock_refresh: duration("30s"),
    /** A leader that has not renewed its Lease for this long is replaced. */
    lease_duration: duration("12s"),
    /** How often a leader renews it. */
    lease_renew: duration("4s"),

    /** Time within which a drill's server must become ready. */
    drill_boot: duration("5m"),
    /** Longest drill. */
    drill_limit: duration("1h"),
    /** Drills under way at once above which owners can start no more. */
    drills_at_once: whole(2),
    /** Pause of an owner between two drills of a server. */
    drill_cooldown: duration("1h"),

    ...transferSettings,

    ...reaperSettings,
    ...moveSettings,
  }),
  offsite: offsiteSection,
});

export type Settings = z.output<typeof settings>;

/** The kubeconfig of this process; undefined inside a pod, which has a service account. */
export function kubeconfigFile(): string | undefined {
  return process.env["SVC_KUBECONFIG"] || undefined;
}
