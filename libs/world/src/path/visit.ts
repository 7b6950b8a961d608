// Walks everything below a folder, parents before children, names in order. It neither recurses nor keeps a descriptor per
// level, so no tree is too deep.

import type { Stats } from "node:fs";
import { errnoOf } from "../fault.ts";
import type { Folder, FolderEntry } from "./folder.ts";
import { FolderStack } from "./folder-stack.ts";

export type Visited = {
  name: string;
  /** Path from the root. */
  path: string;
  /** 0 at the root. */
  depth: number;
  /** Its parent, open until the next entry is requested; for a folder that was entered, the folder itself. */
  folder: Folder;
} & (
  | { kind: "file" | "other" }
  | { kind: "folder"; stats: Stats }
  /** A folder that was not entered: `mayEnter` rejected it, or we lack the right. */
  | { kind: "closed"; isUnreadable: boolean }
);

type VisitOptions = {
  signal?: AbortSignal | undefined;
  /** False for entries to skip. */
  isIn?: (entry: FolderEntry, depth: number) => boolean;
  mayEnter?: (path: string) => boolean;
};

type Level = { prefix: string; entries: FolderEntry[]; next: number };

/** Throws as `Folder.enter`, and when a folder is moved meanwhile. */
export async function* visit(root: Folder, options: VisitOptions = {}): AsyncGenerator<Visited, undefined> {
  await using stack = new FolderStack(root);
  const levels: Level[] = [{ prefix: "", entries: await root.list(), next: 0 }];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    level.next += 1;
    if (!entry) {
      levels.pop();
      if (levels.length > 0) await stack.leave();
      continue;
    }
    options.signal?.throwIfAborted();
    const depth = levels.length - 1;
    if (options.isIn && !options.isIn(entry, depth)) continue;
    const { name, kind } = entry;
    const path = `${level.prefix}${name}`;
    if (kind !== "folder") {
      yield { name, path, depth, folder: stack.folder, kind };
      continue;
    }
    const mayEnter = options.mayEnter?.(path) ?? true;
    const entered = mayEnter ? await enter(stack, name) : undefined;
    if (!entered) yield { name, path, depth, folder: stack.folder, kind: "closed", isUnreadable: mayEnter };
    else {
      yield { name, path, depth, folder: stack.folder, kind, stats: entered.stats };
      levels.push({ prefix: `${path}/`, entries: entered.entries, next: 0 });
    }
  }
}

async function enter(
  stack: FolderStack,
  name: string,
): Promise<{ stats: Stats; entries: FolderEntry[] } | undefined> {
  const before = stack.depth;
  try {
    const stats = await stack.enter(name);
    return { stats, entries: await stack.folder.list() };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (stack.depth > before) await stack.leave();
    return undefined;
  }
}

/** True when a file exists but can't be read: no permission, or an I/O error. */
export function isUnreadable(error: unknown): boolean {
  return ["EACCES", "EPERM", "EIO"].includes(errnoOf(error) ?? "");
}
