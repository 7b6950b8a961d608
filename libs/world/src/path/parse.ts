// Paths in requests: relative to the world's root, with forward slashes (docs/reference/world-lock.md#jobs).

import { WorldFault } from "../fault.ts";
import { whyNoEntry } from "./name.ts";

const pathBytes = 4_096;

/** Prefix of our own temporary names; callers neither see nor use them. */
export const hiddenPrefix = ".svc-";

export function isHidden(name: string): boolean {
  return name.startsWith(hiddenPrefix);
}

/**
 * The names of a path from the root; none for the root itself. Drops `.` and doubled slashes. Throws `bad_path` for a
 * path that leaves the world, holds an invalid name, or is hidden.
 */
export function parsePath(text: string): string[] {
  if (Buffer.byteLength(text) > pathBytes) throw refusal("the path is longer than 4096 bytes");
  if (text.startsWith("/")) throw refusal("the path must be relative to the world's root");
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  for (const name of names) {
    const reason = whyNoName(name);
    if (reason) throw refusal(reason);
    if (isHidden(name)) throw refusal("names that begin with .svc- belong to running operations");
  }
  if (/^[A-Za-z]:/.test(names[0] ?? "")) throw refusal("the path must not name a drive");
  return names;
}

/** As `parsePath`, for a path to be changed: rejects the root itself. */
export function parseTarget(text: string): { parents: string[]; name: string } {
  const names = parsePath(text);
  const name = names.pop();
  if (name === undefined) throw refusal("the world's root itself cannot be changed");
  return { parents: names, name };
}

/** Why a caller can't use this name; undefined when it can. */
export function whyNoName(name: string): string | undefined {
  if (name.includes("\\")) return "a name must not contain a slash or a backslash";
  if (!name.isWellFormed() || name.includes("\ufffd")) return "a name is not valid text";
  return whyNoEntry(name);
}

function refusal(reason: string): WorldFault {
  return new WorldFault("bad_path", `The path is rejected: ${reason}.`);
}
