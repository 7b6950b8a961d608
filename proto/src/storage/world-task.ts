// What the service storage asks of a world Job, and what the Job answers (docs/reference/world-lock.md#jobs).
// A Job gets one task as JSON in SVC_TASK, its folders as arguments (`world-agent --world=/world
// --archive=/archive --secret=/run/svc/secret --tmp=/tmp`), and in the last but one its one-time token, what a file is to
// hold, and the digests of the parts of an upload. It writes progress at most once a second and one result,
// each as one marked line on stdout; storage reads them from the pod's log.
// Vocabulary: archive = a `.tar.zst` or `.tar.gz` file; sink/source = where an archive goes to or comes from.

import { z } from "zod";
import { ArchiveChanges, RestoreChanges } from "./file-changes.ts";

export const progressMark = "svc-progress ";
export const resultMark = "svc-result ";

/** File name inside the archive folder, or a one-time URL of the internal face (with the token of the Job's Secret). */
const Place = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("archive"), name: z.string().regex(/^[a-z0-9-]+-\d+\.tar\.(zst|gz)$/) }),
  z.strictObject({ kind: z.literal("url"), url: z.url() }),
]);
export type Place = z.output<typeof Place>;

/** In hexadecimal. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const path = z.string().max(4096);

/** Size and digest of each part of a staged upload, in order. */
export const StagedParts = z.array(z.strictObject({ size: z.number().int().min(0), sha256: Sha256 }));
export type StagedParts = z.output<typeof StagedParts>;

/** Name of a set: UTC, to the second. */
export const setName = /^\d{8}T\d{6}Z$/;
const milliseconds = z.number().int().min(0);

/** A good start, and the spans since in which the server was stopped; Unix milliseconds. */
export const Since = z.strictObject({
  at: milliseconds,
  rests: z.array(z.strictObject({ from: milliseconds, to: milliseconds })).max(100),
});
export type Since = z.output<typeof Since>;

export const PluginSource = z.enum(["modrinth", "hangar"]);
export type PluginSource = z.output<typeof PluginSource>;
/** What loads plugins or mods; the first four load plugins. */
export const PluginLoader = z.enum([
  ...(["paper", "purpur", "folia", "spigot"] as const),
  ...(["fabric", "quilt", "forge", "neoforge"] as const),
]);
export type PluginLoader = z.output<typeof PluginLoader>;

/** What the world says of an installed file (docs/reference/plugins.md#installed). */
export const PluginRecord = z.strictObject({
  path: z.string().regex(/^(?:plugins|mods)\/[^/\\\p{Cc}]{1,150}\.jar$/iu),
  sha256: Sha256,
  source: PluginSource,
  project: z.string().max(64),
  title: z.string().max(100),
  version: z.string().max(100),
  version_name: z.string().max(100),
  installed_at: z.iso.datetime(),
});
export type PluginRecord = z.output<typeof PluginRecord>;

/** The file `.svc/plugins.json`. */
export const PluginRecords = z.strictObject({
  loader: PluginLoader.nullable(),
  game_version: z.string().max(32).nullable(),
  plugins: z.array(PluginRecord).max(300),
});
export type PluginRecords = z.output<typeof PluginRecords>;

/** What a removal must find: no folder, or a folder with nothing in it; decided by the file system as it removes. */
export const RemoveOnly = z.enum(["file", "empty_folder"]);
export type RemoveOnly = z.output<typeof RemoveOnly>;

export const Task = z.discriminatedUnion("mode", [
  /** World folder -> archive: written as a hidden partial, synced, read back whole, renamed (docs/reference/backups.md#archive). */
  z.strictObject({
    mode: z.literal("backup"),
    to: Place,
    /** Share of the archive file system that must stay free; 0.1 unless a test says otherwise. */
    keep_free: z.number().min(0).max(1),
    /** Into the archive folder: stores chunks, and none that is there already (docs/reference/backups.md#deduplicated). */
    deduplicate: z.boolean().optional(),
    /** Keeps the digest of each file in the archive (docs/reference/backups.md#digests). */
    file_digests: z.boolean().optional(),
  }),
  /** Reads an archive to its end and compares its digest. */
  z.strictObject({
    mode: z.literal("verify"),
    from: Place,
    sha256: Sha256.optional(),
    /** Also says whether the world folder is just what the archive holds (`same`), file by file. */
    compare: z.boolean().optional(),
  }),
  /** Archive -> world: verified first, then extracted, then what is not in the archive goes (docs/reference/restore.md#chain). */
  z.strictObject({
    mode: z.literal("restore"),
    from: Place,
    sha256: Sha256,
    /** Restores only these files or folders and removes nothing. */
    only: z.array(path).max(1000).optional(),
    /** Compares every file with the archive afterwards (world moves). */
    compare: z.boolean().optional(),
  }),
  /** One folder of an archive's tree, read from its seek table where it has one. */
  z.strictObject({ mode: z.literal("browse"), from: Place, path }),
  /** Files below a path that differ between an archive and an earlier one, by their indexes alone where these have digests. */
  z.strictObject({ mode: z.literal("compare"), from: Place, base: Place, path }),
  /** Files that a restore would add, change and remove (docs/reference/restore.md#plan). */
  z.strictObject({
    mode: z.literal("plan"),
    from: Place,
    only: z.array(path).max(1000).optional(),
    /** There is no volume: nothing of the world is there. */
    no_world: z.literal(true).optional(),
  }),
  /** Sends an archive or world to the internal face (docs/reference/exports.md#job). */
  z.strictObject({
    mode: z.literal("export"),
    what: z.discriminatedUnion("kind", [
      z.strictObject({ kind: z.literal("backup"), name: z.string(), sha256: Sha256 }),
      /** A `.tar.gz` unless it says otherwise: what a player can open anywhere. */
      z.strictObject({ kind: z.literal("world"), compression: z.enum(["gzip", "zstd"]).optional() }),
      z.strictObject({ kind: z.literal("file"), path }),
      z.strictObject({ kind: z.literal("folder"), path }),
    ]),
    url: z.url(),
  }),
  /** `from`: the first name that is listed; absent: the first there is. */
  z.strictObject({ mode: z.literal("list"), path, from: z.string().max(255).optional() }),
  /** Looks below a folder for a text, in names, in content or in both (docs/reference/files.md#search). */
  z.strictObject({
    mode: z.literal("search"),
    path,
    text: z.string().min(1).max(200),
    in: z.enum(["names", "content", "both"]),
    match_case: z.boolean(),
  }),
  z.strictObject({ mode: z.literal("read"), path }),
  z.strictObject({
    mode: z.literal("write"),
    path,
    /** The content is in the file `content` of the Job's Secret. */
    content_sha256: Sha256,
    expect_sha256: Sha256.optional(),
    create_only: z.boolean().optional(),
  }),
  z.strictObject({ mode: z.literal("mkdir"), path }),
  z.strictObject({ mode: z.literal("delete"), path, only: RemoveOnly.optional() }),
  z.strictObject({ mode: z.literal("rename"), path, to: path }),
  /** Packs files and folders as a zip beside them (docs/reference/files.md#archive). */
  z.strictObject({
    mode: z.literal("archive"),
    path,
    /** In the folder of the zip. */
    names: z.array(z.string().max(255)).min(1).max(100),
  }),
  /** Plugins and mods with their digests, and what is recorded of them. */
  z.strictObject({ mode: z.literal("plugins") }),
  /**
   * Adds, replaces and removes plugins in one step (docs/reference/plugins.md#install). The files of `put` come in their order from `url`,
   * which is absent when there are none; each is a part of the `StagedParts` in the Job's Secret.
   */
  z.strictObject({
    mode: z.literal("install"),
    url: z.url().optional(),
    /** `expect`: digest of the file that it replaces at this path; null: there must be none. */
    put: z.array(z.strictObject({ record: PluginRecord, expect: Sha256.nullable() })).max(30),
    /** `expect`: digest of the file; null: it is gone already. */
    drop: z.array(z.strictObject({ path, expect: Sha256.nullable() })).max(30),
    loader: PluginLoader.optional(),
    game_version: z.string().max(32).optional(),
  }),
  /** What changed since a good start, and what is set aside (docs/reference/crashes.md#safe-start). */
  z.strictObject({ mode: z.literal("changed"), since: Since.optional() }),
  /** Moves what changed into a new set. */
  z.strictObject({ mode: z.literal("set-aside"), id: z.string().regex(setName), since: Since }),
  /** Moves a set back; refused when something is in the way. */
  z.strictObject({ mode: z.literal("put-back"), id: z.string().regex(setName) }),
  /**
   * Fetches a staged upload once and lands it atomically; `url` also takes the DELETE that reports it landed. Its
   * `StagedParts` are in the Job's Secret: there may be more of them than a variable holds.
   */
  z.strictObject({
    mode: z.literal("upload"),
    path,
    overwrite: z.boolean(),
    url: z.url(),
    size: z.number().int().min(0),
  }),
  z.strictObject({
    mode: z.literal("unzip"),
    path,
    overwrite: z.boolean(),
    /** Leaves protected files out, where otherwise one of them refuses all. */
    skip_protected: z.boolean().optional(),
  }),
]);
export type Task = z.output<typeof Task>;

export const Progress = z.strictObject({
  /** Bytes, or entries where bytes are unknown. */
  done: z.number().int().min(0),
  /** 0 while unknown. */
  total: z.number().int().min(0),
});
export type Progress = z.output<typeof Progress>;

/** Why a task did not do its work. */
export const TaskFaultCode = z.enum([
  "file_exists",
  "volume_full",
  "file_changed",
  "not_found",
  "bad_path",
  "archive_invalid",
  "archive_unsafe",
  "archive_symlink",
  "type_conflict",
  "too_large",
  "digest_mismatch",
  "backup_corrupt",
  "store_full",
  "transfer_failed",
]);

/** Faults of the caller end the Job with exit code 0 and this; anything else is a non-zero exit. */
export const TaskFault = z.strictObject({
  code: TaskFaultCode,
  message: z.string().max(2000),
  entry: z.string().max(4096).optional(),
  conflicts: z.array(z.string()).max(200).optional(),
  conflict_count: z.number().int().optional(),
  need: z.number().int().optional(),
  avail: z.number().int().optional(),
});
export type TaskFault = z.output<typeof TaskFault>;

export const FileEntry = z.strictObject({
  name: z.string(),
  size: z.number().int().min(0),
  is_dir: z.boolean(),
  mod_time: z.iso.datetime(),
  /** Of a file in an archive whose index has it. */
  sha256: Sha256.optional(),
});
export type FileEntry = z.output<typeof FileEntry>;

export const AsideFile = z.strictObject({
  path: z.string(),
  size: z.number().int().min(0),
  mod_time: z.iso.datetime(),
});
export type AsideFile = z.output<typeof AsideFile>;
export const AsideSet = z.strictObject({ id: z.string(), files: z.array(AsideFile) });
export type AsideSet = z.output<typeof AsideSet>;

/** A file or folder that a search found. */
export const SearchMatch = z.strictObject({
  /** From the root of the world. */
  path: z.string(),
  /** Bytes; 0 for a folder. */
  size: z.number().int().min(0),
  is_dir: z.boolean(),
  mod_time: z.iso.datetime(),
  in_name: z.boolean(),
  /** The first lines that have the text, a long one shortened around it; counted from 1. */
  lines: z.array(z.strictObject({ line: z.number().int().min(1), text: z.string() })).max(5),
  /** True when more lines have it. */
  more_lines: z.boolean(),
});
export type SearchMatch = z.output<typeof SearchMatch>;

/** What a search found and what it did not look into (docs/reference/files.md#search). */
export const SearchResult = z.strictObject({
  matches: z.array(SearchMatch).max(200),
  /** Files and folders whose names were compared. */
  looked_at: z.number().int().min(0),
  /** Bytes of content that were compared. */
  read_bytes: z.number().int().min(0),
  /** Files whose content was left out. */
  left_out: z.strictObject({
    large: z.number().int().min(0),
    binary: z.number().int().min(0),
    protected: z.number().int().min(0),
    /** Also what is gone by then, and whose path is longer than a request can have. */
    unreadable: z.number().int().min(0),
  }),
  /** The limit that ended the search early; null: everything was looked at. */
  stopped: z.enum(["matches", "entries", "bytes", "time"]).nullable(),
});
export type SearchResult = z.output<typeof SearchResult>;

/** What is not in a zip: its path, a long one shortened, and why. */
export const ArchiveLeftOut = z.strictObject({
  path: z.string(),
  /**
   * `special`: a link, a device, a pipe or a socket; `holes`: nearly all of it is holes; `protected`: a secret of the
   * platform.
   */
  reason: z.enum(["special", "too_long", "unreadable", "holes", "protected"]),
});
export type ArchiveLeftOut = z.output<typeof ArchiveLeftOut>;

/** Everything a successful task may tell; which fields are set follows from its mode. */
export const TaskDone = z.strictObject({
  /** Name of the archive that was written. */
  archive: z.string().optional(),
  size_bytes: z.number().int().min(0).optional(),
  /** Of a deduplicated archive: bytes that were not in the store before. */
  added_bytes: z.number().int().min(0).optional(),
  /** Of a deduplicated archive: what is damaged of earlier ones of the server. This one does not depend on it. */
  damage: z.string().optional(),
  sha256: Sha256.optional(),
  entries: z.number().int().min(0).optional(),
  /** What the archive does not hold: links, devices, paths that are too long, and what could not be read. */
  skipped_entries: z.number().int().min(0).optional(),
  /** Of these, what is there and could not be read: the archive is not all of the world. */
  unreadable_entries: z.number().int().min(0).optional(),
  /** The first of them, each with its reason. */
  skipped_names: z.array(z.string().max(400)).max(20).optional(),
  files: z.number().int().min(0).optional(),
  bytes: z.number().int().min(0).optional(),
  removed: z.number().int().min(0).optional(),
  /** The first protected files of a zip that were left out, sorted; and how many there were. */
  left_out: z.array(z.string()).max(200).optional(),
  left_out_count: z.number().int().min(0).optional(),
  /** The first that are not in a zip that was made; `left_out_count` says how many there were. */
  archive_left_out: z.array(ArchiveLeftOut).max(20).optional(),
  /** The world has every file of the archive with the same content, and nothing else. */
  same: z.boolean().optional(),
  listing: z.array(FileEntry).optional(),
  changes: ArchiveChanges.optional(),
  restore: RestoreChanges.optional(),
  /** What changed since a good start, or was moved. */
  changed: z.array(AsideFile).optional(),
  /** The newest first. */
  sets: z.array(AsideSet).optional(),
  found: SearchResult.optional(),
  plugins: z
    .strictObject({
      records: PluginRecords,
      files: z
        .array(z.strictObject({ path: z.string(), size: z.number().int().min(0), sha256: Sha256 }))
        .max(300),
      /** What the files of the world say it runs. */
      loader: PluginLoader.nullable(),
      game_version: z.string().nullable(),
    })
    .optional(),
  truncated: z.boolean().optional(),
  /** null: unreadable. */
  free_bytes: z.number().int().min(0).nullable().optional(),
  /** base64: what a text was that was replaced, at most 256 KiB decoded. */
  previous: z.string().optional(),
  /** base64, at most 1 MiB decoded. */
  content: z.string().optional(),
  /** Digest of `content` as it is sent, which differs from the stored file where a secret was masked. */
  content_sha256: Sha256.optional(),
});
export type TaskDone = z.output<typeof TaskDone>;

export const TaskResult = z.union([
  z.strictObject({ ok: z.literal(true), done: TaskDone }),
  z.strictObject({ ok: z.literal(false), fault: TaskFault }),
]);
export type TaskResult = z.output<typeof TaskResult>;
