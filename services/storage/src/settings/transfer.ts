// Settings of files, uploads and exports: keys of the section `storage` (docs/reference/settings.md, docs/reference/exports.md#ticket).

import { duration, size } from "@svc/config";
import { z } from "zod";
import { isSource } from "../source/address.ts";

const sourceRule = "must be a host such as repo.example.net, or an origin such as http://a:8080";
const count = (fallback: number) => z.number().int().min(1).default(fallback);

const fileSettings = {
  /** URL of the internal face as world Jobs reach it; empty = no uploads and no exports. */
  internal_url: z.union([z.literal(""), z.url()]).default(""),
  /** How long a caller waits for a file Job; then 504 `files_timeout`. */
  file_wait: duration("90s"),
  /** Deadline of the Job of a list, a read or a write. */
  file_deadline: duration("2m"),
  /** How long the Job of a list or read is kept when nobody read its result. */
  file_job_ttl: duration("2m"),
  /** Largest file that is read as JSON. */
  read_bytes: size("1Mi"),
  /** Largest file that is written as JSON. */
  write_bytes: size("256Ki"),
  /** File Jobs that one account may have in progress per replica. */
  file_jobs_at_once: count(4),
  /** Deadline of the Job of a file operation. */
  file_op_deadline: duration("2h"),
  /** How long an ended operation is listed and its Job kept. */
  file_op_kept: duration("30m"),
  /** How long the earlier version of a text file is kept. */
  file_version_kept: duration("90d"),
  /** Operations of one server that are listed. */
  file_ops_shown: count(10),
  /** How often operations in progress are reconciled. */
  file_op_settle: duration("2s"),
  /** An operation without a Job and without a sign of life from its replica for this long has failed. */
  file_op_patience: duration("1m"),
};

const fetchSettings = {
  /**
   * Where files may be fetched from: hosts such as `repo.example.net` or `repo.example.net:8443`, by https and at public
   * addresses, and origins such as `http://files.internal:8080`, as they stand. Empty = nothing is fetched.
   */
  fetch_from: z.array(z.string().refine(isSource, sourceRule)).default([]),
  /** Largest file that is fetched. */
  fetch_bytes: size("512Mi"),
  /** Longest time of a download. */
  fetch_deadline: duration("30m"),
};

const pluginSettings = {
  /** Address of Modrinth's API; empty = that catalogue is off. */
  modrinth_url: z.union([z.literal(""), z.url()]).default("https://api.modrinth.com/v2"),
  /** Address of Hangar's API; empty = that catalogue is off. */
  hangar_url: z.union([z.literal(""), z.url()]).default("https://hangar.papermc.io/api/v1"),
  /** Where their files may come from, as in `fetch_from`. */
  plugin_hosts: z
    .array(z.string().refine(isSource, sourceRule))
    .default(["cdn.modrinth.com", "hangarcdn.papermc.io", "hangar.papermc.io"]),
  /** Largest plugin or mod. */
  plugin_bytes: size("256Mi"),
  /** Questions to the catalogues that one account may cause within a minute, per replica; those that are answered from memory are free. */
  plugin_questions: count(240),
};

const uploadSettings = {
  /** Folder of staged files on the upload volume, which all replicas share; empty = no uploads. */
  staging_path: z.union([z.literal(""), z.string().startsWith("/")]).default("/uploads/.file-staging"),
  /** Share of the upload volume that stays free. */
  staging_keep_free: z.number().min(0).max(1).default(0.1),
  /** Upload sessions that one account may have open. */
  upload_sessions: count(4),
  /** Lifetime of a session without a new part. */
  upload_idle: duration("6h"),
  /** Lifetime of a session that has received nothing. */
  upload_empty: duration("30m"),
  /** Share of the upload volume that one account may use, staged and in transit. */
  upload_account_share: z.number().min(0).max(1).default(0.25),
  /** How often staging is swept, and the age from which files without a session are deleted. */
  upload_sweep: duration("10m"),
  /** A writer of a part that does not renew its lease for this long loses it. */
  upload_lease: duration("30s"),
  /** Parts per upload, at most; each has up to 32 MiB. */
  upload_parts: count(1_200),
  /** How long either end of a transfer may stall. */
  transfer_stall: duration("2m"),
  /** How often the rights of running transfers are rechecked, in addition to each event. */
  transfer_recheck: duration("1m"),
};

const exportSettings = {
  /** Time within which the Job must connect. */
  export_appear: duration("10m"),
  /** Time within which the download must start. */
  export_wait: duration("90s"),
  /** How long a started download waits for the Job's body. */
  export_body: duration("10s"),
  /** Longest export or download. */
  export_deadline: duration("2h"),
  /** How often expired tickets are swept. */
  export_sweep: duration("1m"),
  /** How long an ended ticket is remembered. */
  export_kept: duration("10m"),
  /** Window of the hourly limits. */
  export_window: duration("1h"),
  /** Exports of worlds and backups that one account may run at once. */
  export_per_user: count(1),
  /** The same over all accounts. */
  export_platform: count(2),
  /** Exports of one account within the window. */
  export_hourly: count(6),
  /** Downloads of files and folders that one account may run at once. */
  download_per_user: count(2),
  /** The same over all accounts. */
  download_platform: count(4),
  /** Downloads of one account within the window. */
  download_hourly: count(30),
  /** `Retry-After` of a caller who has reached their own limit. */
  export_retry_own: duration("90s"),
  /** `Retry-After` while the platform's limit is reached. */
  export_retry_platform: duration("60s"),
};

export const transferSettings = {
  ...fileSettings,
  ...fetchSettings,
  ...pluginSettings,
  ...uploadSettings,
  ...exportSettings,
};
