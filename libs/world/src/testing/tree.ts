// A whole tree as a value, to compare worlds with each other.

import { createHash } from "node:crypto";
import type { Folder, FolderEntry } from "../path/folder.ts";
import { visit } from "../path/visit.ts";

type TreeEntry = {
  path: string;
  kind: "file" | "folder" | "other";
  mode: number;
  mtimeMs: number;
  size: number;
  sha256: string;
};

const nothing = createHash("sha256").digest("hex");

/** Everything under a folder in order, without hidden partials and `lost+found`. */
export async function treeOf(root: Folder, options: { withHidden?: boolean } = {}): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const isIn = ({ name }: FolderEntry, depth: number) =>
    options.withHidden || !(name.startsWith(".svc-") || (depth === 0 && name === "lost+found"));
  for await (const visited of visit(root, { isIn })) {
    const { path, kind, folder, name } = visited;
    if (kind === "closed") throw new Error(`${path} cannot be read`);
    const stats = kind === "folder" ? visited.stats : await folder.find(name);
    if (!stats) throw new Error(`${name} went away`);
    const { mode, mtimeMs } = stats;
    const entry = { path, kind, mode: mode & 0o777, mtimeMs: Math.floor(mtimeMs), size: 0, sha256: nothing };
    if (kind === "file") {
      await using file = await folder.openFile(name);
      entry.sha256 = createHash("sha256")
        .update(await file.readFile())
        .digest("hex");
      entry.size = stats.size;
    }
    entries.push(entry);
  }
  return entries;
}
