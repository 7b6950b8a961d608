// What an extraction would meet in the world.

import { shown } from "../archive/tar-entry.ts";
import type { Tree, TreeNode } from "../archive/tree.ts";
import { WorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { assertWritable, type Protected } from "../path/protect.ts";
import { Trail } from "../path/trail.ts";

const mostShown = 200;

export type Meeting = { tree: Tree; known: Protected; parents: readonly string[]; overwrite: boolean };

/**
 * Throws `file_exists` with what would be replaced unless that is wanted, `type_conflict` where one side is a folder and
 * the other is not, `bad_path` over a protected file.
 */
export async function findConflicts(folder: Folder, meeting: Meeting): Promise<void> {
  const conflicts = await meet(folder, meeting);
  if (meeting.overwrite || conflicts.length === 0) return;
  throw new WorldFault("file_exists", `${conflicts.length} files are there already.`, {
    conflicts: conflicts.sort().slice(0, mostShown),
    conflict_count: conflicts.length,
  });
}

type Level = {
  prefix: string;
  /** What the archive has here and is still to be held against the world. */
  left: [name: string, node: TreeNode][];
  there: Map<string, "file" | "folder" | "other">;
};

/** Files that are there already; only folders that both sides have are entered. */
async function meet(folder: Folder, meeting: Meeting): Promise<string[]> {
  const { tree, known, parents } = meeting;
  const conflicts: string[] = [];
  await using trail = new Trail(folder);
  const levels = [await levelOf(folder, { node: tree.root, prefix: "" })];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const [name, node] = level.left.pop() ?? [];
    if (name === undefined || !node) {
      levels.pop();
      if (levels.length > 0) await trail.leave();
      continue;
    }
    const met = level.there.get(name);
    if (!met) continue;
    const path = `${level.prefix}${name}`;
    if ((met === "folder") !== (node.kind === "folder")) throw oneSided(path);
    if (node.kind === "folder") {
      await trail.enter(name);
      levels.push(await levelOf(trail.folder, { node, prefix: `${path}/` }));
      continue;
    }
    assertWritable(known, [...parents, ...path.split("/")], await trail.folder.find(name));
    conflicts.push(shown([...parents, path].join("/")));
  }
  return conflicts;
}

async function levelOf(folder: Folder, { node, prefix }: { node: TreeNode; prefix: string }): Promise<Level> {
  const there = new Map((await folder.list()).map((entry) => [entry.name, entry.kind]));
  return { prefix, left: [...(node.below ?? [])].reverse(), there };
}

function oneSided(path: string): WorldFault {
  return new WorldFault("type_conflict", `${shown(path)} is a folder on one side only.`, {
    entry: shown(path),
  });
}
