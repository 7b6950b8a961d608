// Files of a stopped server's world (docs/reference/files.md#operations, docs/reference/uploads.md#session).
// Vocabulary: path = relative to the world's root, with forward slashes; operation = a file change that goes on in the
// background and is read from the list of operations.

import { z } from "zod";
import { bucket, operation } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { Sha256Hex, Timestamp } from "../text.ts";
import { ArchiveLeftOut, RemoveOnly, SearchResult } from "./world-task.ts";

const name = { name: ServerNameParam };
/** A path as a caller writes it; the owner answers `bad_path` for what is none. */
export const WorldPath = z.string().max(4_096);
const path = { path: WorldPath };

/** Faults of everything that starts a Job on a world. */
export const worldFaults = [
  "bad_name",
  "not_found",
  "bad_path",
  "path_not_shared",
  "not_stopped",
  "no_world_volume",
  "files_unavailable",
] as const;
const reading = [...worldFaults, "files_timeout"] as const;
/** As `worldFaults`, where the world is changed and nobody else may be at it. */
export const heldFaults = [...worldFaults, "maintenance_in_progress", "world_reclaiming"] as const;
const writing = [...heldFaults, "files_timeout", "volume_full"] as const;

const external = { face: "external", tier: "app" } as const;
/** Longer than the owner waits for a Job, so that its `files_timeout` is heard. */
const deadlineMs = 92_000;

/** One name in a folder. */
export const FileEntry = z.strictObject({
  name: z.string(),
  /** Bytes; 0 for a folder. */
  size: z.number().int().min(0),
  is_dir: z.boolean(),
  mod_time: Timestamp,
});
export type FileEntry = z.output<typeof FileEntry>;

export const list = operation({
  subject: "storage.file.list",
  http: { method: "GET", path: "/api/v1/servers/{name}/files", ...external, rights: ["files.read"] },
  params: name,
  query: {
    path: WorldPath.default(""),
    from: z.string().min(1).max(255).optional().meta({
      description: "First name that is listed; to go on after `truncated`, the last name of the answer",
    }),
  },
  output: z.strictObject({
    path: z.string(),
    /** By name, in the order of UTF-16 code units. */
    entries: z.array(FileEntry),
    /** True when the folder holds more entries after these. */
    truncated: z.boolean(),
    /** 0 = full, null = unknown. */
    free_bytes: z.number().int().min(0).nullable(),
  }),
  faults: reading,
  deadlineMs,
  summary: "The entries of a folder of a stopped server's world.",
  spec: "docs/reference/files.md#operations",
});

export const read = operation({
  subject: "storage.file.read",
  http: {
    method: "GET",
    path: "/api/v1/servers/{name}/file",
    holdsSecrets: true,
    ...external,
    rights: ["files.read"],
  },
  params: name,
  query: path,
  output: z.strictObject({
    path: z.string(),
    /** base64. */
    content: z.string(),
    /** Digest of the file as it is stored. */
    sha256: Sha256Hex,
    /** Digest of the bytes as sent, which differs where a secret was masked. */
    content_sha256: Sha256Hex,
  }),
  faults: [...reading, "too_large", "read_damaged"],
  deadlineMs,
  summary: "One file of up to 1 MiB; the RCON password in server.properties is masked.",
  spec: "docs/reference/files.md#operations",
});

/** What is searched: one line as it stands, no pattern. */
const SearchText = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, "must be one line of text")
  .meta({ description: "Literal text of one line" });

export const search = operation({
  subject: "storage.file.search",
  http: {
    method: "GET",
    path: "/api/v1/servers/{name}/files/search",
    holdsSecrets: true,
    ...external,
    rights: ["files.read"],
  },
  params: name,
  query: {
    path: WorldPath.default(""),
    text: SearchText,
    in: z.enum(["names", "content", "both"]).default("both"),
    match_case: z.enum(["true", "false"]).default("false"),
  },
  output: z.strictObject({ path: z.string(), ...SearchResult.shape }),
  faults: reading,
  deadlineMs,
  summary: "Files and folders below a folder whose name or text has a text; says which limit ended it early.",
  spec: "docs/reference/files.md#search",
});

// Wider than what is accepted: what is wrong with a digest or a size has a code of its own.
const WriteFile = {
  content: z.string().meta({ description: "base64 of at most 256 KiB" }),
  content_sha256: z.string().max(256).optional().meta({ description: "Required; 64 lower-case hex digits." }),
  expect_sha256: Sha256Hex.optional(),
  create_only: z.boolean().optional(),
};

export const write = operation({
  subject: "storage.file.write",
  http: { method: "PUT", path: "/api/v1/servers/{name}/file", ...external, rights: ["files.write"] },
  params: name,
  query: path,
  body: WriteFile,
  output: z.strictObject({ path: z.string(), status: z.literal("written"), sha256: Sha256Hex }),
  faults: [
    ...writing,
    "digest_required",
    "bad_digest",
    "digest_mismatch",
    "file_changed",
    "file_exists",
    "too_large",
  ],
  deadlineMs,
  summary: "Replaces or creates a file atomically; its mode is kept, its folder must exist.",
  spec: "docs/reference/files.md#operations",
});

export const remove = operation({
  subject: "storage.file.remove",
  http: { method: "DELETE", path: "/api/v1/servers/{name}/file", ...external, rights: ["files.write"] },
  params: name,
  query: { ...path, only: RemoveOnly.optional() },
  output: z.strictObject({ path: z.string(), status: z.literal("deleted") }),
  faults: [...writing, "folder_not_empty"],
  deadlineMs,
  summary: "Deletes a file, a link itself, or a folder with all that is in it; `only` says what it must be.",
  spec: "docs/reference/files.md#operations",
});

export const makeFolder = operation({
  subject: "storage.file.make-folder",
  http: { method: "POST", path: "/api/v1/servers/{name}/files/mkdir", ...external, rights: ["files.write"] },
  params: name,
  query: path,
  output: z.strictObject({ path: z.string(), status: z.literal("created") }),
  faults: [...writing, "file_exists"],
  deadlineMs,
  summary: "Creates one folder; its parent must exist.",
  spec: "docs/reference/files.md#operations",
});

export const rename = operation({
  subject: "storage.file.rename",
  http: { method: "POST", path: "/api/v1/servers/{name}/files/rename", ...external, rights: ["files.write"] },
  params: name,
  query: path,
  body: { to: WorldPath.min(1) },
  output: z.strictObject({ path: z.string(), to: z.string(), status: z.literal("renamed") }),
  faults: [...writing, "file_exists"],
  deadlineMs,
  summary: "Moves or renames a file or folder; it never replaces anything.",
  spec: "docs/reference/files.md#operations",
});

/** Why an operation failed (docs/reference/files.md#background). */
export const FileOpError = z.strictObject({
  code: z.string(),
  message: z.string(),
  /** Archive entry that was refused, or the path that is in the way. */
  entry: z.string().optional(),
  /** The first 200 files that an extraction would replace, sorted. */
  conflicts: z.array(z.string()).max(200).optional(),
  conflict_count: z.number().int().optional(),
  need: z.number().int().optional(),
  avail: z.number().int().optional(),
});
export type FileOpError = z.output<typeof FileOpError>;

/** A background operation (docs/reference/files.md#background). */
export const FileOp = z.strictObject({
  id: z.string(),
  op: z.enum(["upload", "unzip"]),
  path: z.string(),
  /** Where the file of an `upload` is fetched from; absent for one that a person sends. */
  from: z.string().max(500).optional(),
  state: z.enum(["running", "succeeded", "failed"]),
  started_at: Timestamp,
  finished_at: Timestamp.optional(),
  /** 0 before the first report. */
  done: z.number().int().min(0),
  total: z.number().int().min(0),
  files: z.number().int().min(0).optional(),
  bytes: z.number().int().min(0).optional(),
  /** The first 200 protected files of an archive that `skip_protected` left out, sorted. */
  left_out: z.array(z.string()).max(200).optional(),
  left_out_count: z.number().int().min(0).optional(),
  error: FileOpError.optional(),
});
export type FileOp = z.output<typeof FileOp>;

export const unzip = operation({
  subject: "storage.file.unzip",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/files/unzip",
    ...external,
    status: 202,
    rights: ["files.write"],
  },
  params: name,
  query: path,
  body: {
    overwrite: z.boolean().optional(),
    skip_protected: z
      .boolean()
      .optional()
      .meta({ description: "Extracts without protected files; the operation says which were left out." }),
  },
  output: z.strictObject({ op: FileOp }),
  faults: heldFaults,
  deadlineMs: 20_000,
  summary: "Extracts a zip into its own folder in the background, all or nothing.",
  spec: "docs/reference/uploads.md#session, docs/reference/uploads.md#unzip",
});

export const fetch = operation({
  subject: "storage.file.fetch",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/files/fetch",
    ...external,
    status: 202,
    rights: ["files.write"],
  },
  params: name,
  query: path,
  body: {
    url: z.string().min(1).max(2_048).meta({ description: "Address on a host that the operator allows" }),
    sha256: Sha256Hex.optional().meta({ description: "What the file must have; another one is not kept" }),
    overwrite: z.boolean().optional(),
  },
  output: z.strictObject({ op: FileOp }),
  faults: [...worldFaults, "fetch_disabled", "address_refused", "too_many_uploads", "upload_staging_full"],
  deadlineMs: 20_000,
  summary: "Fetches a file from an allowed address in the background; it is written whole or not at all.",
  spec: "docs/reference/files.md#fetch",
});

export const archive = operation({
  subject: "storage.file.archive",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/files/archive",
    ...external,
    rights: ["files.read", "files.write"],
  },
  params: name,
  query: path,
  body: {
    names: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(100)
      .meta({ description: "Names of files and folders in the folder of the zip" }),
  },
  output: z.strictObject({
    path: z.string(),
    status: z.literal("archived"),
    /** Files and folders in the zip. */
    entries: z.number().int().min(0),
    /** Of the zip, in bytes. */
    size: z.number().int().min(0),
    /** What is not in it: how many, and the first of them. */
    left_out_count: z.number().int().min(0),
    left_out: z.array(ArchiveLeftOut).max(20),
  }),
  faults: [...writing, "file_exists", "too_large"],
  deadlineMs,
  summary: "Packs files and folders as a zip beside them, whole or not at all; it never replaces anything.",
  spec: "docs/reference/files.md#archive",
});

export const listOperations = operation({
  subject: "storage.file.list-operations",
  http: { method: "GET", path: "/api/v1/servers/{name}/files/ops", ...external, rights: ["files.read"] },
  params: name,
  output: z.strictObject({ ops: z.array(FileOp) }),
  faults: ["bad_name", "not_found"],
  deadlineMs: 20_000,
  summary: "The operation that runs and those that ended within 30 minutes, newest first, at most ten.",
  spec: "docs/reference/uploads.md#session",
});

/** An operation as the replicas of storage share it. */
export const StoredFileOp = z.strictObject({
  ...FileOp.shape,
  server: z.string(),
  /** Job that does the work; there is none yet while a replica still prepares it. */
  job: z.string(),
  /** Unix milliseconds of the last sign of life of the replica that prepares it; 0 once the Job is there. */
  preparing_at: z.number().int().min(0),
  /** Upload session that is committed. */
  upload: z.string().optional(),
  started_by: z.string(),
});
export type StoredFileOp = z.output<typeof StoredFileOp>;

/** Operations by `<server>/<id>`; they are told of for a while after their end. */
export const fileOps = bucket({
  name: "storage-file-ops",
  owner: "storage",
  value: StoredFileOp,
  ttlMs: 4 * 3_600_000,
  summary: "Background file operations, running and ended.",
});
