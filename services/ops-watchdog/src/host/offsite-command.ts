// What `svc offsite` asks of the program; the client of the bucket is loaded only for these.

import { z } from "zod";

export const OffsiteCommand = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("offsite-sync") }),
  z.strictObject({ do: z.literal("offsite-sync-wal") }),
  z.strictObject({ do: z.literal("offsite-status") }),
  z.strictObject({ do: z.literal("offsite-list") }),
  /** All copies without `sample`. */
  z.strictObject({ do: z.literal("offsite-verify"), sample: z.number().int().min(1).optional() }),
  z.strictObject({ do: z.literal("offsite-take-over"), apply: z.boolean() }),
  z.strictObject({
    do: z.literal("offsite-fetch-db"),
    /** Name of a bundle, or `latest`. */
    bundle: z.string().min(1).max(100),
    force: z.boolean(),
  }),
  /** All of it, or what a point in time needs. */
  z.strictObject({ do: z.literal("offsite-fetch-wal"), at: z.coerce.date().optional() }),
  z.strictObject({ do: z.literal("offsite-fetch-worlds") }),
  /** By the newest list, or the newest until `at`. */
  z.strictObject({ do: z.literal("offsite-fetch-images"), at: z.coerce.date().optional() }),
  z.strictObject({ do: z.literal("offsite-fetch-uploads"), at: z.coerce.date().optional() }),
]);
export type OffsiteCommand = z.output<typeof OffsiteCommand>;
