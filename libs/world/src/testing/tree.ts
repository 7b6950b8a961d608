// A whole tree as a value, to compare worlds with each other.

import { createHash } from "node:crypto";
import type { Folder } from "../path/folder.ts";

export type TreeEntry = {
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
  return await treeIn(root, "", options.withHidden ?? false);
}

async function treeIn(folder: Folder, prefix: string, withHidden: boolean): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  for (const { name, kind } of await folder.list()) {
    if (!withHidden && (name.startsWith(".svc-") || (prefix === "" && name === "lost+found"))) continue;
    const stats = await folder.find(name);
    if (!stats) throw new Error(`${name} went away`);
    const path = `${prefix}${name}`;
    const entry = {
      path,
      kind,
      mode: stats.mode & 0o777,
      mtimeMs: Math.floor(stats.mtimeMs),
      size: 0,
      sha256: nothing,
    };
    if (kind === "file") {
      await using file = await folder.openFile(name);
      entry.sha256 = createHash("sha256")
        .update(await file.readFile())
        .digest("hex");
      entry.size = stats.size;
    }
    entries.push(entry);
    if (kind !== "folder") continue;
    await using inner = await folder.enter(name);
    entries.push(...(await treeIn(inner, `${path}/`, withHidden)));
  }
  return entries;
}
