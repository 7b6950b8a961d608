// Finds files of the world that an extraction would replace.

import { printable } from "../archive/tar-entry.ts";
import type { Tree, TreeNode } from "../archive/tree.ts";
import { isWorldFault, WorldFault } from "../fault.ts";
import type { Folder, Identity } from "../path/folder.ts";
import { FolderStack } from "../path/folder-stack.ts";
import { assertWritable, type Protected } from "../path/protect.ts";

const mostShown = 200;

type Meeting = {
  tree: Tree;
  known: Protected;
  parents: readonly string[];
  overwrite: boolean;
  /** Receives the protected files that are left out; absent: one of them rejects the whole archive. */
  leftOut?: Set<string> | undefined;
};

/**
 * Throws `file_exists` with what would be replaced unless overwriting is allowed, `type_conflict` where only one side is a
 * folder, `bad_path` for a protected file that must not be left out.
 */
export async function findConflicts(folder: Folder, meeting: Meeting): Promise<void> {
  const conflicts = await meet(folder, meeting);
  if (meeting.overwrite || conflicts.length === 0) return;
  throw new WorldFault("file_exists", `${conflicts.length} files already exist.`, {
    conflicts: conflicts.sort().slice(0, mostShown),
    conflict_count: conflicts.length,
  });
}

type Level = {
  prefix: string;
  /** Entries of the archive at this level that are still to be compared with the world. */
  left: [name: string, node: TreeNode][];
  there: Map<string, "file" | "folder" | "other">;
};

/** Existing files; enters only folders that both sides have. */
async function meet(folder: Folder, meeting: Meeting): Promise<string[]> {
  const { tree, known, parents, leftOut } = meeting;
  const conflicts: string[] = [];
  await using stack = new FolderStack(folder);
  const levels = [await levelOf(folder, { node: tree.root, prefix: "" })];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const [name, node] = level.left.pop() ?? [];
    if (name === undefined || !node) {
      levels.pop();
      if (levels.length > 0) await stack.leave();
      continue;
    }
    const met = level.there.get(name);
    if (!met) continue;
    const path = `${level.prefix}${name}`;
    if (leftOut?.has(path)) continue;
    if ((met === "folder") !== (node.kind === "folder")) throw oneSided(path);
    if (node.kind === "folder") {
      await stack.enter(name);
      levels.push(await levelOf(stack.folder, { node, prefix: `${path}/` }));
      continue;
    }
    const there = await stack.folder.find(name);
    if (!mayWrite({ known, names: [...parents, ...path.split("/")], there }, { path, leftOut })) continue;
    conflicts.push(printable([...parents, path].join("/")));
  }
  return conflicts;
}

type Place = { known: Protected; names: readonly string[]; there?: Identity | undefined };

/** False for a protected file that is left out; throws `bad_path` where none may be left out. */
export function mayWrite(
  { known, names, there }: Place,
  { path, leftOut }: { path: string; leftOut: Set<string> | undefined },
): boolean {
  try {
    assertWritable(known, names, there);
    return true;
  } catch (error) {
    if (!leftOut || !isWorldFault(error, "bad_path")) throw error;
    leftOut.add(path);
    return false;
  }
}

async function levelOf(folder: Folder, { node, prefix }: { node: TreeNode; prefix: string }): Promise<Level> {
  const there = new Map((await folder.list()).map((entry) => [entry.name, entry.kind]));
  return { prefix, left: [...(node.below ?? [])].reverse(), there };
}

function oneSided(path: string): WorldFault {
  return new WorldFault("type_conflict", `${printable(path)} is a folder on one side only.`, {
    entry: printable(path),
  });
}
