// Which paths of a world a limited member may read or change (docs/reference/shared-access.md#files). Pure.

import { z } from "zod";
import type { MemberRight } from "../right.ts";

/** Rights that reach what is in the files of a world: the paths of an access limit each of them alike. */
export const readers: readonly MemberRight[] = ["files.read", "backups.download"];
export const writers: readonly MemberRight[] = ["files.write", "backups.restore"];

/**
 * A file or folder with all that is in it, relative to the world's root, as `plugins/Essentials`. Slashes at its ends are
 * dropped; dots, empty names and backslashes are refused rather than resolved.
 */
export const PathPrefix = z
  .string()
  .max(1_024)
  .transform((text) => text.replace(/^\/+|\/+$/g, ""))
  .refine(isNormalized, "must be a path below the world's root, as plugins/Essentials, without . and ..")
  .meta({ type: "string", minLength: 1, maxLength: 1_024 });

/**
 * Whether a path is one of these or below one. Fails closed: a path that is not normalized is below nothing, and the root
 * is below nothing but itself.
 */
export function isWithin(path: string, prefixes: readonly string[]): boolean {
  return isNormalized(path) && prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/**
 * Whether a move brings what may not be read to where it may, also as part of a folder that comes to lie above.
 * `prefixes`: what may be read; absent: everything.
 */
export function reveals(
  { from, to }: { from: string; to: string },
  prefixes: readonly string[] | undefined,
): boolean {
  if (prefixes === undefined || isWithin(from, prefixes)) return false;
  return isWithin(to, prefixes) || prefixes.some((prefix) => to === "" || isWithin(prefix, [to]));
}

function isNormalized(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (path === "" || /[\\\u0000-\u001f\u007f\p{Cs}]/u.test(path)) return false;
  return path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}
