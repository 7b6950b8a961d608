// Settings of builds (docs/reference/settings.md); its numbers grow with its operations.

import { duration, section } from "@svc/config";
import { z } from "zod";

const address = z
  .string()
  .regex(
    /^$|^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9][A-Za-z0-9.-]*)(:\d{1,5})?$/,
    "must be host or host:port without a scheme and without a path",
  );

export const settings = z.strictObject({
  registry: section({
    /** Registry of the platform; empty = none, then nothing is pinned. */
    url: address.default(""),
    /** Whether it speaks http without TLS; unset = only when it is on loopback. */
    plain_http: z.boolean().optional(),
    /** Longest wait for one answer of the registry. */
    timeout: duration("5s"),
  }),
  builds: section({
    /** Images that come with the platform; each is put on the whitelist once. */
    recommended: z.array(z.string().min(1).max(512)).default([]),
    /** Entries of one page of the whitelist. */
    list_page: z.number().int().min(1).max(1_000).default(500),
  }),
});
export type Settings = z.output<typeof settings>;

export type RegistrySettings = Settings["registry"];
