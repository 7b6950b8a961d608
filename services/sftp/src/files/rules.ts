// Decisions of SFTP (docs/reference/sftp.md#operations). Pure.

import type { Status } from "../protocol/replies.ts";

/**
 * A path of a client as the operations of files have it: relative to the world, empty for its root. Dots are resolved as
 * clients expect of a server whose root is the world; everything else is judged by storage.
 */
export function worldPath(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names.join("/");
}

export const shownPath = (path: string) => `/${worldPath(path)}`;
export const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
export const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

const flag = { read: 1, write: 2, append: 4, create: 8, truncate: 16, exclusive: 32 };

/** What stands at a path; `unknown` where the caller may not see its folder. */
export type Found = "file" | "folder" | "nothing" | "unknown";

type OpenPlan =
  | { does: "read" }
  /** `mode`: whether the file that stands there when it is closed is replaced, is an error, or must be as it was read. */
  | { does: "write"; mode: "replace" | "create" | "edit"; isAppend: boolean }
  | { does: "refuse"; status: Status; why: string };

const refuse = (status: Status, why: string): OpenPlan => ({ does: "refuse", status, why });

/** What opening a file with these flags means. */
export function decideOpen(flags: number, found: Found): OpenPlan {
  const has = (bit: number) => (flags & bit) !== 0;
  if (found === "folder") return refuse("failure", "It is a folder.");
  if (!has(flag.write)) {
    if (!has(flag.read)) return refuse("failure", "It must be opened to be read or to be written.");
    return found === "nothing" ? refuse("noSuchFile", "There is no such file.") : { does: "read" };
  }
  const isAppend = has(flag.append);
  if (found === "nothing") {
    if (!has(flag.create)) return refuse("noSuchFile", "There is no such file.");
    return { does: "write", mode: "create", isAppend };
  }
  if (has(flag.create) && has(flag.exclusive)) {
    if (found === "file") return refuse("failure", "A file of that name exists.");
    return { does: "write", mode: "create", isAppend };
  }
  return { does: "write", mode: has(flag.truncate) ? "replace" : "edit", isAppend };
}

/** How a refusal of the external face is answered; `ends`: the connection has no right to anything any more. */
export function decideRefusal({ status, code }: { status: number; code: string }): {
  status: Status;
  ends: boolean;
} {
  if (status === 401) return { status: "permissionDenied", ends: true };
  if (code === "path_not_shared" || code === "bad_path") return { status: "permissionDenied", ends: false };
  if (status === 403) return { status: "permissionDenied", ends: false };
  if (status === 404) return { status: "noSuchFile", ends: false };
  return { status: "failure", ends: false };
}

/** Why something of another kind stays when a file, or an empty folder, was to be removed; undefined when that was not the reason. */
export function decideNotRemoved(
  path: string,
  only: "file" | "empty_folder",
  found: { isFolder: boolean } | undefined,
): string | undefined {
  if (found === undefined || found.isFolder === (only === "empty_folder")) return undefined;
  return found.isFolder
    ? `${shownPath(path)} is a folder; remove it with rmdir.`
    : `${shownPath(path)} is not a folder; remove it with rm.`;
}

/** Whether a refusal is of a moment: too many Jobs or requests at once, or a backup that nobody at this client asked for. */
export function isBusy({ status, code }: { status: number; code: string }): boolean {
  return status === 429 || (status === 503 && code === "unavailable") || code === "maintenance_in_progress";
}
