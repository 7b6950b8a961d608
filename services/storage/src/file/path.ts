// Validates paths of callers before a Job is started. The Job checks them again, on the real folders.

import { Fault } from "@svc/proto";
import { isWorldFault, parsePath, parseTarget } from "@svc/world";

/** The normalized path; empty for the root. Throws `bad_path`. */
export function readPath(text: string): string {
  return orBadPath(() => parsePath(text)).join("/");
}

/** As `readPath`, but rejects the root. */
export function readTarget(text: string): string {
  const { parents, name } = orBadPath(() => parseTarget(text));
  return [...parents, name].join("/");
}

/** As `readTarget`, for an archive to extract. */
export function readZip(text: string): string {
  const path = readTarget(text);
  if (path.toLowerCase().endsWith(".zip")) return path;
  throw new Fault("bad_path", { message: "Only a .zip file can be extracted." });
}

/** The folder that a path lies in; empty for the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Last segment of a path. */
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
