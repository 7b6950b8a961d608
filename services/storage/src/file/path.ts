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
  if (isZip(path)) return path;
  throw new Fault("bad_path", { message: "Only a .zip file can be extracted." });
}

/** As `readTarget`, for an archive to make. */
export function readNewZip(text: string): string {
  const path = readTarget(text);
  if (isZip(path)) return path;
  throw new Fault("bad_path", { message: "The name of the archive must end in .zip." });
}

/** The paths of names in a folder, each once. Throws `bad_path` for what is no single name. */
export function readNames(folder: string, names: readonly string[]): string[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  for (const name of names) {
    if (readTarget(`${prefix}${name}`) === `${prefix}${name}` && !name.includes("/")) continue;
    throw new Fault("bad_path", {
      message: "Give the names of files and folders that lie beside the archive, without slashes.",
    });
  }
  return [...new Set(names)].map((name) => `${prefix}${name}`);
}

function isZip(path: string): boolean {
  return path.toLowerCase().endsWith(".zip");
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
