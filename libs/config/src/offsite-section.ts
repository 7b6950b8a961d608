// The section [offsite], which storage and ops-watchdog both read (docs/reference/off-site.md#settings).

import { z } from "zod";
import { duration, section, size } from "./values.ts";

const secretName = (fallback: string) =>
  z
    .string()
    .regex(/^[A-Za-z_]\w{0,100}$/, "must be the name of an environment variable")
    .default(fallback);

const settings = {
  /** Object store, `http(s)://host[:port]`, a bare host = https; empty = AWS in `offsite.region`. */
  endpoint: z
    .string()
    .regex(
      /^$|^(https?:\/\/)?[A-Za-z0-9.[\]:-]{1,260}$/,
      "must be a host or http(s)://host[:port] without a path",
    )
    .default(""),
  /** Region that requests are signed for. */
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,63}$/, "must be a region such as us-east-1")
    .default("us-east-1"),
  /** Bucket of the off-site copies; empty = there are none, and no world waits for one. */
  bucket: z
    .string()
    .regex(/^$|^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket")
    .default(""),
  /** Put before the name of each object. */
  prefix: z
    .string()
    .regex(/^$|^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/, "must be a path without ..")
    .default(""),
  /** Addresses of the form `endpoint/bucket`, which most stores other than AWS need. */
  path_style: z.boolean().default(true),
  /** Environment variable with the access key; `<name>_FILE` may name a file instead. */
  access_key_ref: secretName("SVC_OFFSITE_ACCESS_KEY"),
  /** Environment variable with the secret of the access key; likewise. */
  secret_key_ref: secretName("SVC_OFFSITE_SECRET_KEY"),
  /** Environment variable with the keys of the copies, likewise; where it is unset, `offsite.key_file` counts. */
  key_ref: secretName("SVC_OFFSITE_KEY"),
  /** File with the keys of the copies, a key on each line, the active one first; not readable by other users. */
  key_file: z
    .string()
    .regex(/^$|^\//, "must be an absolute path")
    .default("/etc/svc/offsite.key"),
  /** Bytes a second that uploads may take; 0 = no limit. */
  upload_rate: size("0"),
  /** Folder in which cut uploads and the id of this host are remembered; it is not part of bundles. */
  state_dir: z.string().startsWith("/").default("/var/lib/svc/offsite"),
  /** Deduplicated archives are copied as packs, each stored once, instead of as whole archives. */
  packs: z.boolean().default(false),
  /** Copies of database backups that are kept. */
  db_keep: z.number().int().min(1).default(30),
  /** Between two passes. */
  sync_every: duration("1h"),
  /** A pass is delayed by up to this much, so that installations do not work at the same minute. */
  sync_jitter: duration("10m"),
  /** Between two passes of the log alone, where a point in time is on; at least 10s. */
  wal_every: duration("5m").pipe(z.number().min(10_000)),
  /** How much longer than the log itself its copies are kept. */
  wal_extra_keep: duration("7d"),
  /** Age of the newest copy of the log above which it is stale. */
  wal_copy_max_age: duration("1h"),
  /** Age of the newest completed pass above which off-site copies are stale. */
  max_age: duration("12h"),
  /** Longest time for one object, beyond what its size takes at `min_rate`. */
  object_deadline: duration("10m"),
  /** Bytes a second that an upload or a download must reach. */
  min_rate: size("512Ki"),
  /** How long a pass waits before it reads its claim again, where the store cannot put conditionally. */
  writer_settle: duration("2s"),
  /** Objects under an older key that one pass seals again under the active one. */
  reseal_at_once: z.number().int().min(0).max(100_000).default(50),
  /** How often a sample of copies is opened; 0s = never. */
  verify_every: duration("7d"),
  /** Copies that one such sample opens. */
  verify_sample: z.number().int().min(1).max(1_000).default(5),
  /** How long replaced lists of images and uploads are kept. */
  index_keep: duration("14d"),
};

/** Without a bucket there are no off-site copies; then the other keys make no sense. */
export const offsiteSection = section(settings).refine(
  ({ bucket, endpoint, prefix }) => bucket !== "" || (endpoint === "" && prefix === ""),
  { message: "must be set where endpoint or prefix is", path: ["bucket"] },
);
