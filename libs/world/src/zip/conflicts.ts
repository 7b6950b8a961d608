// What an extraction would meet in the world.

import { shown } from "../archive/tar-entry.ts";
import type { Tree } from "../archive/verify.ts";
import { WorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { assertWritable, type Protected } from "../path/protect.ts";

const mostShown = 200;

export type Meeting = { tree: Tree; known: Protected; parents: readonly string[]; overwrite: boolean };

/**
 * Throws `file_exists` with what would be replaced unless that is wanted, `type_conflict` where one side is a folder and
 * the other is not, `bad_path` over a protected file.
 */
export async function findConflicts(folder: Folder, meeting: Meeting): Promise<void> {
  const byFolder = new Map<string, { name: string; kind: "file" | "folder" }[]>();
  for (const [path, kind] of meeting.tree.paths) {
    const cut = path.lastIndexOf("/");
    const outer = cut < 0 ? "" : path.slice(0, cut);
    const names = byFolder.get(outer);
    if (names) names.push({ name: path.slice(cut + 1), kind });
    else byFolder.set(outer, [{ name: path.slice(cut + 1), kind }]);
  }
  const conflicts: string[] = [];
  await meet(folder, { ...meeting, byFolder, conflicts, prefix: "" });
  if (meeting.overwrite || conflicts.length === 0) return;
  throw new WorldFault("file_exists", `${conflicts.length} files are there already.`, {
    conflicts: conflicts.sort().slice(0, mostShown),
    conflict_count: conflicts.length,
  });
}

type Walk = Meeting & {
  byFolder: Map<string, { name: string; kind: "file" | "folder" }[]>;
  conflicts: string[];
  prefix: string;
};

async function meet(folder: Folder, walk: Walk): Promise<void> {
  const there = new Map((await folder.list()).map((entry) => [entry.name, entry.kind]));
  for (const { name, kind } of walk.byFolder.get(walk.prefix.replace(/\/$/, "")) ?? []) {
    const met = there.get(name);
    const path = `${walk.prefix}${name}`;
    if (!met) continue;
    if ((met === "folder") !== (kind === "folder"))
      throw new WorldFault("type_conflict", `${shown(path)} is a folder on one side only.`, {
        entry: shown(path),
      });
    if (kind === "folder") {
      await using inner = await folder.enter(name);
      await meet(inner, { ...walk, prefix: `${path}/` });
      continue;
    }
    assertWritable(walk.known, [...walk.parents, ...path.split("/")], await folder.find(name));
    walk.conflicts.push(shown([...walk.parents, path].join("/")));
  }
}
