// The section [offsite], which storage and ops-watchdog both read (docs/reference/off-site.md#settings).

import { z } from "zod";
import { duration, section, size } from "./values.ts";

const settings = {
  /** URL of the S3 service of off-site copies, without a path; a host alone is asked by https. Empty = that of AWS. */
  endpoint: z
    .string()
    .regex(
      /^$|^(https?:\/\/)?[A-Za-z0-9[][A-Za-z0-9.:\]-]*$/,
      "must be empty, host[:port], or http(s)://host[:port] without a path",
    )
    .transform((text) => (text === "" || text.includes("://") ? text : `https://${text}`))
    .prefault(""),
  /** Its region. */
  region: z.string().default(""),
  /** Empty = no off-site copies, and no world waits for one. */
  bucket: z.string().default(""),
  /** Prefix of keys in the bucket. */
  prefix: z
    .string()
    .regex(/^$|^(?!\/)(?!.*\.\.)[\x21-\x7e]{1,200}$/, "must not begin with a slash and not have .. in it")
    .transform((text) => (text === "" || text.endsWith("/") ? text : `${text}/`))
    .prefault(""),
  /** Name of the environment variable that holds the access key; `<name>_FILE` may name a file instead. */
  access_key_ref: z.string().default("SVC_OFFSITE_ACCESS_KEY"),
  /** Name of the environment variable that holds the secret key; likewise. */
  secret_key_ref: z.string().default("SVC_OFFSITE_SECRET_KEY"),
  /** Name of the environment variable that holds the encryption keys of the copies, the active one first; likewise. */
  key_ref: z.string().default("SVC_OFFSITE_KEY"),
  /** Copies of database backups that are kept. */
  db_keep: z.number().int().min(1).default(30),
  /** Between two passes. */
  sync_every: duration("1h"),
  /** A pass is delayed by up to this much, so that installations do not work at the same minute. */
  sync_jitter: duration("10m"),
  /** Age of the newest completed pass above which off-site copies are stale. */
  max_age: duration("12h"),
  /** Longest time for one object, beyond what its size takes at `min_rate`. */
  object_deadline: duration("10m"),
  /** Bytes a second that an upload or a download must reach. */
  min_rate: size("512Ki"),
  /** Most bytes a second that a pass sends; 0 = no limit. */
  bandwidth: size("0"),
  /** How long a pass waits before it reads its claim again, where the store cannot put conditionally. */
  writer_settle: duration("2s"),
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
  { message: "endpoint and prefix need a bucket", path: ["bucket"] },
);
export type OffsiteSettings = z.output<typeof offsiteSection>;
