// Goes through everything under a folder: folders before what is in them, names in order. It neither recurses nor holds a
// descriptor for each level, so no tree is too deep for it.

import type { Stats } from "node:fs";
import { errnoOf } from "../fault.ts";
import type { Folder, FolderEntry } from "./folder.ts";
import { FolderStack } from "./folder-stack.ts";

export type Visited = {
  name: string;
  /** From the root on. */
  path: string;
  /** 0 for what is at the root. */
  depth: number;
  /** What it is in, open until the next one is asked for; for a folder that was entered, the folder itself. */
  folder: Folder;
} & (
  | { kind: "file" | "other" }
  | { kind: "folder"; stats: Stats }
  /** A folder that was not entered: `mayEnter` said no, or we have no right to. */
  | { kind: "closed"; isUnreadable: boolean }
);

export type VisitOptions = {
  signal?: AbortSignal | undefined;
  /** False for what is passed over as if it were not there. */
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

/** True when something is there that we have no right to read or that the disk does not give. */
export function isUnreadable(error: unknown): boolean {
  return ["EACCES", "EPERM", "EIO"].includes(errnoOf(error) ?? "");
}
