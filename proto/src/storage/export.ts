// Downloads of backups, worlds, files and folders (docs/reference/exports.md#job, docs/reference/exports.md#ticket).
// Vocabulary: ticket = what a person has: it opens one download once; export = what it stands for, with an id of its
// own that its Job knows; parked = a Job's PUT that waits for the browser.

import { z } from "zod";
import { bucket, nothing, oneTimeToken, operation } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { ByteCount, Sha256Hex } from "../text.ts";
import { heldFaults, WorldPath } from "./file.ts";
import { TaskFaultCode } from "./world-task.ts";

const name = { name: ServerNameParam };
const external = { face: "external", tier: "app" } as const;
const hex64 = /^[0-9a-f]{64}$/;
const ticket = { ticket: z.string().max(128) };

/** What the message of a failed export says: a refusal of its Job, or `job_failed` without one. */
const ExportCode = z.enum([...TaskFaultCode.options, "job_failed"]);

/** What a started download answers (docs/reference/exports.md#ticket). */
export const ExportTicket = z.strictObject({
  ticket: z.string().regex(hex64),
  state: z.literal("pending"),
  filename: z.string(),
});
export type ExportTicket = z.output<typeof ExportTicket>;

const held = heldFaults.filter((fault) => fault !== "bad_path" && fault !== "files_unavailable");
const starting = { deadlineMs: 20_000 } as const;

export const startBackup = operation({
  subject: "storage.export.start-backup",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/backups/{id}/export",
    ...external,
    status: 202,
    rights: ["backups.download"],
  },
  params: { ...name, id: z.string().min(1).max(64) },
  output: ExportTicket,
  faults: [
    "bad_name",
    "not_found",
    "no_backup",
    "path_not_shared",
    "backup_corrupt",
    "export_busy",
    "export_unavailable",
  ],
  ...starting,
  summary: "Starts the download of a backup, byte for byte as it is archived.",
  spec: "docs/reference/exports.md#ticket",
});

export const startWorld = operation({
  subject: "storage.export.start-world",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/world/export",
    ...external,
    status: 202,
    rights: ["backups.download"],
  },
  params: name,
  output: ExportTicket,
  faults: [...held, "export_busy", "export_unavailable"],
  ...starting,
  summary: "Starts the download of a stopped server's world, without its secrets.",
  spec: "docs/reference/exports.md#ticket",
});

export const startFile = operation({
  subject: "storage.export.start-file",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/files/download",
    ...external,
    status: 202,
    rights: ["files.read"],
  },
  params: name,
  query: { path: WorldPath, dir: z.enum(["true", "false"]).default("false") },
  output: ExportTicket,
  faults: [...heldFaults, "export_busy"],
  ...starting,
  summary: "Starts the download of one file, or of a folder as a zip.",
  spec: "docs/reference/files.md#operations, docs/reference/exports.md#ticket",
});

export const readStatus = operation({
  subject: "storage.export.read-status",
  http: { method: "GET", path: "/api/v1/exports/{ticket}", ...external, rights: [], serversBy: "owner" },
  params: ticket,
  output: z.strictObject({
    state: z.enum(["pending", "ready", "failed"]),
    /** Why its Job died. */
    message: z.string().optional(),
    code: ExportCode.optional(),
  }),
  faults: ["not_found", "export_expired"],
  summary: "Whether a download waits for its browser.",
  spec: "docs/reference/exports.md#ticket",
});

export const download = operation({
  subject: "storage.export.download",
  http: {
    method: "GET",
    path: "/api/v1/exports/{ticket}/download",
    ...external,
    kind: "download",
    rights: [],
    serversBy: "owner",
  },
  params: ticket,
  output: z.unknown(),
  faults: ["not_found", "export_not_ready", "export_expired"],
  idempotent: false,
  summary: "The bytes, once; a transfer that fails is cut before its last bytes.",
  spec: "docs/reference/exports.md#ticket",
});

export const receive = operation({
  subject: "storage.export.receive",
  http: {
    method: "PUT",
    path: "/api/v1/internal/exports/{id}",
    face: "internal",
    tier: "public",
    kind: "upload",
    status: 204,
    bearer: "one-time",
    upload: { lengthRequired: false, maxBytes: Number.POSITIVE_INFINITY, hasMinimumRate: false },
  },
  params: { id: z.string().max(64) },
  headers: { ...oneTimeToken, x_svc_export_length: ByteCount.optional() },
  output: nothing,
  faults: ["not_found", "backup_corrupt", "export_expired"],
  summary: "Takes the bytes of an export from its Job and gives them to the browser that waits for them.",
  spec: "docs/reference/exports.md#job",
});

/** What is exported; decides the limits that apply. */
export const ExportKind = z.enum(["backup", "world", "file", "folder"]);
export type ExportKind = z.output<typeof ExportKind>;

/** An export as the replicas of storage share it. Neither its ticket nor its token can be read from it. */
export const StoredExport = z.strictObject({
  id: z.string(),
  kind: ExportKind,
  server: z.string(),
  user_id: z.string(),
  /** True for staff, who may have what is not theirs. */
  is_staff: z.boolean().optional(),
  filename: z.string(),
  content_type: z.string(),
  /** Of a backup: what the row says that the archive is. */
  expected: z.strictObject({ size: z.number().int(), sha256: Sha256Hex }).optional(),
  backup_id: z.string().optional(),
  /** Of a file or folder: its path in the world. */
  path: z.string().optional(),
  job: z.string(),
  state: z.enum(["pending", "ready", "streaming", "spent", "failed"]),
  message: z.string().optional(),
  code: ExportCode.optional(),
  ticket_hash: Sha256Hex,
  token_hash: Sha256Hex,
  /** Unix milliseconds. */
  started_at: z.number().int(),
  changed_at: z.number().int(),
  /** Where the bytes wait: a lane of the replica that holds the Job's PUT, sealed with a key only the ticket gives. */
  lane: z.string().optional(),
});
export type StoredExport = z.output<typeof StoredExport>;

export const exports = bucket({
  name: "storage-exports",
  owner: "storage",
  value: StoredExport,
  ttlMs: 3 * 3_600_000,
  summary: "Downloads that are prepared, wait, run or have just ended.",
});

/** Starts of the last hour by `<group>/<account>`, and those under way by `<group>`. */
export const exportStarts = bucket({
  name: "storage-export-starts",
  owner: "storage",
  value: z.strictObject({
    starts: z.array(z.strictObject({ id: z.string(), at: z.number().int() })).max(1_000),
  }),
  ttlMs: 4 * 3_600_000,
  summary: "What counts against the limits of downloads.",
});
