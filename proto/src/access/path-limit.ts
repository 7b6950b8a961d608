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
  const isOpenAt = (place: string) =>
    isWithin(place, prefixes) || prefixes.some((prefix) => place === "" || isWithin(prefix, [place]));
  if (isOpenAt(to)) return true;
  // What lies in a set comes to lie where its path in the set says once the set is put back.
  const later = putBackPath(to);
  return later !== undefined && later !== from && isOpenAt(later);
}

/** Where what comes to lie here is put back from the sets of safe starts; the root for the folders above. */
function putBackPath(path: string): string | undefined {
  const names = path.split("/");
  if (names[0] !== ".svc" || (names[1] ?? "set-aside") !== "set-aside") return undefined;
  return names.slice(3).join("/");
}

function isNormalized(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (path === "" || /[\\\u0000-\u001f\u007f\p{Cs}]/u.test(path)) return false;
  return path.split("/").every((name) => name !== "" && name !== "." && name !== "..");
}
