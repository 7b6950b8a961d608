// Uploads into a stopped server's world (docs/reference/uploads.md#commit, docs/reference/uploads.md#session).
// Vocabulary: staged = on the upload volume, not yet in the world; session = an upload that comes in parts; landed =
// the Job has put a staged file into the world.

import { z } from "zod";
import { bucket, nothing, oneTimeToken, operation } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { ByteCount, Sha256Hex } from "../text.ts";
import { FileOp, heldFaults, WorldPath, worldFaults } from "./file.ts";

const name = { name: ServerNameParam };
const session = { ...name, id: z.string().max(64) };
const external = { face: "external", tier: "app" } as const;
const octets = ["application/octet-stream"] as const;
const sessions = "/api/v1/servers/{name}/files/uploads";

const mebibyte = 1_048_576;
/** Most bytes of a single upload request and of one part (docs/reference/uploads.md#single). */
export const singleUploadBytes = 64 * mebibyte;
export const partBytes = 32 * mebibyte;

/** Digest and length of a body: the owner answers what is missing or malformed. */
const bodyHead = {
  content_digest: z.string().max(1_024).optional(),
  content_length: ByteCount,
};
const digests = ["upload_incomplete", "digest_required", "bad_digest", "digest_mismatch"] as const;

export const upload = operation({
  subject: "storage.upload.whole",
  http: {
    method: "PUT",
    path: "/api/v1/servers/{name}/files/upload",
    ...external,
    kind: "upload",
    upload: { maxBytes: singleUploadBytes, incomplete: "upload_incomplete", contentTypes: octets },
    rights: ["files.write"],
  },
  params: name,
  query: { path: WorldPath, overwrite: z.enum(["true", "false"]).default("false") },
  headers: bodyHead,
  output: z.strictObject({
    path: z.string(),
    status: z.literal("uploaded"),
    sha256: Sha256Hex,
    size: z.number().int().min(0),
  }),
  faults: [
    ...heldFaults,
    ...digests,
    "file_exists",
    "too_large",
    "files_timeout",
    "upload_staging_full",
    "volume_full",
  ],
  deadlineMs: 20_000,
  summary: "Uploads one file of up to 64 MiB; it is written whole or not at all.",
  spec: "docs/reference/uploads.md#session",
});

/** An upload in parts (docs/reference/uploads.md#session). */
export const FileUploadSession = z.strictObject({
  id: z.string(),
  path: z.string(),
  size: z.number().int().min(0),
  /** The next part starts here. */
  received: z.number().int().min(0),
  part_max_bytes: z.number().int(),
  /** In order. */
  parts: z.array(z.strictObject({ size: z.number().int(), sha256: Sha256Hex })),
});
export type FileUploadSession = z.output<typeof FileUploadSession>;

export const begin = operation({
  subject: "storage.upload.begin",
  http: { method: "POST", path: sessions, ...external, status: 201, rights: ["files.write"] },
  params: name,
  query: { path: WorldPath },
  body: { size: z.number().int().min(0) },
  output: FileUploadSession,
  faults: [...worldFaults, "too_many_uploads", "upload_staging_full"],
  deadlineMs: 20_000,
  summary: "Begins an upload in parts; space is reserved as they arrive.",
  spec: "docs/reference/uploads.md#session",
});

export const readSession = operation({
  subject: "storage.upload.read-session",
  http: { method: "GET", path: `${sessions}/{id}`, ...external, rights: ["files.write"] },
  params: session,
  output: FileUploadSession,
  faults: ["bad_name", "not_found", "upload_not_found", "path_not_shared"],
  summary: "Progress of an upload; the next part starts at `received`.",
  spec: "docs/reference/uploads.md#session",
});

export const putPart = operation({
  subject: "storage.upload.put-part",
  http: {
    method: "PUT",
    path: `${sessions}/{id}`,
    ...external,
    kind: "upload",
    upload: {
      maxBytes: partBytes,
      tooLarge: "part_too_large",
      incomplete: "upload_incomplete",
      contentTypes: octets,
    },
    rights: ["files.write"],
  },
  params: session,
  query: { offset: ByteCount },
  headers: bodyHead,
  output: FileUploadSession,
  faults: [
    "bad_name",
    "not_found",
    "upload_not_found",
    "path_not_shared",
    ...digests,
    "upload_offset_mismatch",
    "upload_busy",
    "part_too_large",
    "upload_staging_full",
    "files_unavailable",
  ],
  summary: "Adds one part of up to 32 MiB, whole or not at all.",
  spec: "docs/reference/uploads.md#session",
});

export const cancel = operation({
  subject: "storage.upload.cancel",
  http: { method: "DELETE", path: `${sessions}/{id}`, ...external, status: 204, rights: ["files.write"] },
  params: session,
  output: nothing,
  faults: ["bad_name", "not_found", "upload_not_found", "path_not_shared", "upload_busy"],
  summary: "Cancels an upload and frees its space.",
  spec: "docs/reference/uploads.md#session",
});

export const commit = operation({
  subject: "storage.upload.commit",
  http: {
    method: "POST",
    path: `${sessions}/{id}/commit`,
    ...external,
    status: 202,
    rights: ["files.write"],
  },
  params: session,
  body: { overwrite: z.boolean().optional() },
  output: z.strictObject({ op: FileOp }),
  faults: [...heldFaults, "upload_not_found", "upload_not_complete", "upload_busy"],
  deadlineMs: 20_000,
  summary: "Commits a complete upload: a Job writes it into the world in the background.",
  spec: "docs/reference/uploads.md#session",
});

const internal = { face: "internal", tier: "public", bearer: "one-time" } as const;
const staged = "/api/v1/internal/file-uploads/{id}";
const id = { id: z.string().max(64) };

export const openStaged = operation({
  subject: "storage.upload.open-staged",
  http: { method: "GET", path: staged, ...internal, kind: "download" },
  params: id,
  headers: oneTimeToken,
  output: z.unknown(),
  faults: ["not_found"],
  idempotent: false,
  summary: "Gives a staged file to the Job that writes it into the world; a token opens it once.",
  spec: "docs/reference/uploads.md#commit",
});

export const reportLanded = operation({
  subject: "storage.upload.report-landed",
  http: { method: "DELETE", path: staged, ...internal, status: 204 },
  params: id,
  headers: oneTimeToken,
  output: nothing,
  faults: ["not_found"],
  summary: "The Job reports that the file is in the world; the staged copy is removed.",
  spec: "docs/reference/uploads.md#commit",
});

/** One part as it lies on the upload volume. */
export const StagedPart = z.strictObject({
  size: z.number().int().min(0),
  sha256: Sha256Hex,
  /** Name of its file in the session's folder. */
  file: z.string().regex(/^[0-9a-f.]{1,80}$/),
});
export type StagedPart = z.output<typeof StagedPart>;

/** A staged file as the replicas of storage share it. */
export const StagedUpload = z.strictObject({
  id: z.string(),
  kind: z.enum(["single", "session"]),
  /** True when storage fetches it from an address: nobody else sends parts of it. */
  is_fetched: z.boolean().optional(),
  server: z.string(),
  user_id: z.string(),
  path: z.string(),
  size: z.number().int().min(0),
  parts: z.array(StagedPart).max(1_200),
  /** Who writes a part or gathers the whole now, and until when if nothing is heard (Unix milliseconds). */
  writer: z.strictObject({ id: z.string(), until: z.number().int() }).optional(),
  /** sha-256 of the token of the latest commit, and whether it has opened the file. */
  token: z.strictObject({ hash: Sha256Hex, is_used: z.boolean() }).optional(),
});
export type StagedUpload = z.output<typeof StagedUpload>;

/** Staged files by id: gone when nothing was written to them for six hours, or nothing at all for half an hour. */
export const stagedUploads = bucket({
  name: "storage-uploads",
  owner: "storage",
  value: StagedUpload,
  ttlMs: 6 * 3_600_000,
  summary: "Uploads on the upload volume and their progress.",
});

/** Open sessions by account, so that nobody has too many. */
export const uploaders = bucket({
  name: "storage-uploaders",
  owner: "storage",
  value: z.strictObject({ sessions: z.array(z.string()).max(1_000) }),
  ttlMs: 24 * 3_600_000,
  summary: "Ids of each account's upload sessions.",
});

/** Parts on their way to the upload volume, in one entry: what is looked at is what is reserved. */
export const comingParts = bucket({
  name: "storage-coming-parts",
  owner: "storage",
  value: z.strictObject({
    parts: z
      .array(
        z.strictObject({
          id: z.string(),
          user_id: z.string(),
          bytes: z.number().int().min(0),
          /** Unix milliseconds; a part of a process that died counts no longer. */
          until: z.number().int(),
        }),
      )
      .max(2_000),
  }),
  ttlMs: 24 * 3_600_000,
  summary: "Space on the upload volume that is reserved for parts in transit.",
});
