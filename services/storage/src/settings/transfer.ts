// Settings of files, uploads and exports: keys of the section `storage` (docs/reference/settings.md, docs/reference/exports.md#ticket).

import { duration, size } from "@svc/config";
import { z } from "zod";

const count = (fallback: number) => z.number().int().min(1).default(fallback);

const fileSettings = {
  /** The internal face as world Jobs reach it; empty = no uploads and no exports. */
  internal_url: z.union([z.literal(""), z.url()]).default(""),
  /** How long a caller waits for the Job of a file change; then 504 `files_timeout`. */
  file_wait: duration("90s"),
  file_deadline: duration("2m"),
  /** How long the Job of a file change stays when nobody read its end. */
  file_job_ttl: duration("2m"),
  read_bytes: size("1Mi"),
  write_bytes: size("256Ki"),
  /** Jobs that one account may have waiting on one replica at the same time. */
  file_jobs_at_once: count(4),
  file_op_deadline: duration("2h"),
  /** An operation that ended is told of so long, and its Job stays as long. */
  file_op_kept: duration("30m"),
  file_ops_shown: count(10),
  file_op_settle: duration("2s"),
  /** An operation whose replica gave no sign for so long before its Job was there has failed. */
  file_op_patience: duration("1m"),
};

const uploadSettings = {
  /** Folder of staged files on the upload volume, which all replicas share; empty = no uploads. */
  staging_path: z.union([z.literal(""), z.string().startsWith("/")]).default("/uploads/.file-staging"),
  /** Share of the upload volume that stays free. */
  staging_keep_free: z.number().min(0).max(1).default(0.1),
  upload_sessions: count(4),
  upload_idle: duration("6h"),
  /** A session that has received nothing lives so long. */
  upload_empty: duration("30m"),
  /** Share of the upload volume that one account may hold, staged and on its way. */
  upload_account_share: z.number().min(0).max(1).default(0.25),
  upload_sweep: duration("10m"),
  /** A writer of a part that shows no sign for so long has lost its place. */
  upload_lease: duration("30s"),
  /** Parts that one upload may have; each is at most 32 MiB. */
  upload_parts: count(1_200),
  /** Either end of a transfer may stand still for so long. */
  transfer_stall: duration("2m"),
  /** How often the owner of a transfer is asked for again, besides at each event. */
  transfer_recheck: duration("1m"),
};

const exportSettings = {
  /** Its Job must reach the service within this. */
  export_appear: duration("10m"),
  /** The download must begin within this. */
  export_wait: duration("90s"),
  export_body: duration("10s"),
  export_deadline: duration("2h"),
  export_sweep: duration("1m"),
  /** An ended ticket is known as ended for so long. */
  export_kept: duration("10m"),
  /** Window of the hourly limits. */
  export_window: duration("1h"),
  export_per_user: count(1),
  export_platform: count(2),
  export_hourly: count(6),
  download_per_user: count(2),
  download_platform: count(4),
  download_hourly: count(30),
  /** What a refused caller is told to wait: for their own, for the platform's. */
  export_retry_own: duration("90s"),
  export_retry_platform: duration("60s"),
};

export const transferSettings = { ...fileSettings, ...uploadSettings, ...exportSettings };
