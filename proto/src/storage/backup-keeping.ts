// What operators do with backups: finding, labels and pins, browsing, single files, backing up all at once, and drills
// (docs/reference/backups.md#operator). `backup.ts` holds the vocabulary.

import { z } from "zod";
import { request } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { paging, Timestamp } from "../text.ts";
import { BackupFolder, BackupId, BackupLabel, BackupView, busy, RestoredPaths, WorldJob } from "./backup.ts";
import { Drill } from "./drill.ts";

const name = { name: ServerNameParam };
const WorldPath = z.string().max(4096);

const operatorCalls = { callers: ["operator"] as const };

/** A backup as whoever runs the installation sees it. */
export const KeptBackup = BackupView.extend({
  /** What the operator wrote on it; empty when nothing. */
  label: z.string(),
  pinned: z.boolean(),
});
export type KeptBackup = z.output<typeof KeptBackup>;

export const findBackups = request({
  subject: "storage.backup.find",
  input: { server: z.string().max(63).optional(), ...paging },
  output: z.strictObject({ backups: z.array(KeptBackup), total: z.number().int() }),
  ...operatorCalls,
  idempotent: true,
  summary: "Every present backup, newest first, with its label and pin.",
  spec: "docs/reference/backups.md#operator",
});

export const annotateBackup = request({
  subject: "storage.backup.annotate",
  input: {
    id: BackupId,
    label: BackupLabel.optional(),
    pinned: z.boolean().optional(),
  },
  output: KeptBackup,
  faults: ["no_backup"],
  ...operatorCalls,
  onceById: true,
  summary: "Labels a backup, or pins it so that it neither expires nor is pruned.",
  spec: "docs/reference/backups.md#operator",
});

export const browseBackup = request({
  subject: "storage.backup.browse",
  input: { id: BackupId, path: WorldPath.default("") },
  output: BackupFolder,
  faults: ["no_backup", "backup_corrupt", "bad_path", "not_found"],
  ...operatorCalls,
  idempotent: true,
  deadlineMs: 90_000,
  maxInFlight: 4,
  summary: "One folder of what a backup holds.",
  spec: "docs/reference/backups.md#operator",
});

export const restoreByOperator = request({
  subject: "storage.backup.restore-by-operator",
  input: {
    id: BackupId,
    /** Files and folders to put back over the world as it is; absent: the whole world. */
    only: RestoredPaths.optional(),
    safety_snapshot: z.boolean().default(true),
  },
  output: z.strictObject({ name: z.string(), backup_id: z.string(), safety_snapshot: z.boolean() }),
  faults: ["not_found", "no_backup", "bad_path", ...busy, "restore_in_progress", "backup_corrupt"],
  ...operatorCalls,
  deadlineMs: 20_000,
  summary: "Restores a backup, or some files of it, for the operator at the host.",
  spec: "docs/reference/backups.md#operator",
});

export const listJobsByOperator = request({
  subject: "storage.job.list-by-operator",
  input: name,
  output: z.strictObject({ server: z.string(), jobs: z.array(WorldJob) }),
  ...operatorCalls,
  idempotent: true,
  summary: "World Jobs of a server, running and finished, newest first, also when the server is gone.",
  spec: "docs/reference/backups.md#operator",
});

export const readBackupQueue = request({
  subject: "storage.backup.read-queue",
  input: {},
  output: z.strictObject({
    /** Whether restore points are made by themselves: not while the store is full, or where they are switched off. */
    state: z.enum(["on", "off", "store_full"]),
    running: z.array(
      z.strictObject({
        server: z.string(),
        job: z.string(),
        kind: z.enum(["backup", "restore"]),
        started_at: Timestamp,
        /** The next restore point waits for it; not any more once it has taken its share of its deadline. */
        holds_slot: z.boolean(),
      }),
    ),
    /** Servers whose restore point is due, the next one first. */
    waiting: z.array(z.string()),
    waiting_total: z.number().int(),
  }),
  ...operatorCalls,
  idempotent: true,
  deadlineMs: 20_000,
  summary: "Running backups and restores, and servers that wait for their restore point.",
  spec: "docs/reference/backups.md#operator",
});

export const planBackups = request({
  subject: "storage.backup.plan-now",
  input: { names: z.array(ServerNameParam).max(1000).optional(), may_stop: z.boolean().default(false) },
  output: z.strictObject({
    servers: z.array(
      z.strictObject({
        name: z.string(),
        action: z.enum(["back_up", "stop_then_back_up", "skip_running", "skip_no_volume", "skip_unknown"]),
      }),
    ),
  }),
  ...operatorCalls,
  idempotent: true,
  deadlineMs: 60_000,
  summary: "What a backup of all or some servers would do with each.",
  spec: "docs/reference/cli.md#backup-now",
});

export const backUpNow = request({
  subject: "storage.backup.start-now",
  input: { ...name, may_stop: z.boolean().default(false), os_user: z.string().max(64).default("") },
  output: z.discriminatedUnion("state", [
    z.strictObject({ state: z.literal("stopping") }),
    z.strictObject({ state: z.literal("started"), job: z.string() }),
  ]),
  faults: ["not_found", ...busy],
  ...operatorCalls,
  deadlineMs: 20_000,
  summary: "Starts one backup of `svc backup-now`; a server that still stops is asked for again.",
  spec: "docs/reference/cli.md#backup-now",
});

export const resumeAfterBackup = request({
  subject: "storage.backup.resume",
  input: name,
  output: z.null(),
  faults: ["not_found", "at_capacity", "server_retiring", "maintenance_in_progress", "world_reclaiming"],
  ...operatorCalls,
  idempotent: true,
  summary: "Starts a server again that `svc backup-now` stopped.",
  spec: "docs/reference/cli.md#backup-now",
});

export const startDrill = request({
  subject: "storage.drill.start",
  input: { ...name, backup_id: BackupId.optional() },
  output: Drill,
  faults: ["not_found", "no_backup", "backup_corrupt", "no_world_volume", "restore_in_progress"],
  ...operatorCalls,
  summary: "Proves a backup: restores it into a scratch volume and boots the server there.",
  spec: "docs/reference/backups.md#drill",
});

export const readDrill = request({
  subject: "storage.drill.read",
  input: { id: z.string().max(64) },
  output: Drill,
  faults: ["not_found"],
  ...operatorCalls,
  idempotent: true,
  summary: "State of a drill.",
  spec: "docs/reference/backups.md#drill",
});
