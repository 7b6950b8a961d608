// `[[auth_source]]` of the configuration (docs/reference/settings.md): session servers besides the identity source.

import { z } from "zod";

/** A URL that is asked over HTTP, without a name and password in it. */
export const httpUrl = z
  .string()
  .refine(isHttpUrl, "must be a URL that begins with https:// or http://, without user and password");

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

const tag = z
  .string()
  .min(1)
  .max(64)
  .refine(
    (text) => text === text.trim() && !text.includes(":"),
    "must have no colon and no space at its ends",
  )
  .refine((text) => text.toLowerCase() !== "mojang", "mojang is the identity source and always there");
const prefix = z.string().regex(/^[A-Za-z0-9]{1,4}$/, "must be 1 to 4 letters or digits");

const authSource = z
  .strictObject({
    /** `remote` asks a session server. `local` believes every name that is asked with serverId `local`; for the local profile. */
    kind: z.enum(["remote", "local"]).default("remote"),
    /** Names the source for good: the UUIDs of its players derive from it. */
    tag,
    /** Put before a name that is registered at the identity source. */
    prefix: prefix.optional(),
    /** The source's whole hasJoined URL. */
    url: httpUrl.optional(),
  })
  .superRefine((source, context) => {
    const complain = (key: string, message: string) =>
      context.addIssue({ code: "custom", path: [key], message });
    if (source.kind === "remote" && source.url === undefined) complain("url", "is required");
    if (source.kind === "remote" && source.prefix === undefined) complain("prefix", "is required");
    if (source.kind === "local" && source.url !== undefined) complain("url", "a local source has no url");
  });

/** The sources in the order in which they are asked. */
export const authSources = z
  .array(authSource)
  .default([])
  .superRefine((sources, context) => {
    for (const key of ["tag", "prefix"] as const) {
      const seen = new Set<string>();
      for (const [index, source] of sources.entries()) {
        const value = source[key]?.toLowerCase();
        if (value === undefined) continue;
        if (seen.has(value))
          context.addIssue({ code: "custom", path: [index, key], message: "is a duplicate" });
        seen.add(value);
      }
    }
  });

/** Whether the installation is a local one: names below `localhost` are not reachable from outside. */
export function isLocalProfile(rootDomain: string): boolean {
  return /(^|\.)localhost$/.test(rootDomain.toLowerCase());
}
