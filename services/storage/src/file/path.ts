// Paths as callers write them, refused before a Job is started for them. The Job checks again, on the real folders.

import { Fault } from "@svc/proto";
import { isWorldFault, parsePath, parseTarget } from "@svc/world";

/** A path in its one spelling; empty for the root. Throws `bad_path`. */
export function readPath(text: string): string {
  return orBadPath(() => parsePath(text)).join("/");
}

/** As `readPath`, but the root itself is refused. */
export function readTarget(text: string): string {
  const { parents, name } = orBadPath(() => parseTarget(text));
  return [...parents, name].join("/");
}

/** As `readTarget`, for an archive that is to be extracted. */
export function readZip(text: string): string {
  const path = readTarget(text);
  if (path.toLowerCase().endsWith(".zip")) return path;
  throw new Fault("bad_path", { message: "Only a .zip file can be extracted." });
}

/** Last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function orBadPath<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!isWorldFault(error)) throw error;
    throw new Fault("bad_path", { message: error.message });
  }
}
