// Removes whatever a name stands for; a folder with everything in it, however deep.

import type { Folder, FolderEntry } from "./folder.ts";
import { FolderStack } from "./folder-stack.ts";

/**
 * Removes a file or a tree, if it exists. Links are removed themselves, never their targets. Throws as `Folder.enter` and
 * `Folder.removeFile`.
 */
export async function removeTree(outer: Folder, name: string): Promise<void> {
  const stats = await outer.find(name);
  if (!stats) return;
  if (!stats.isDirectory()) return outer.removeFile(name);
  await using stack = new FolderStack(outer);
  const levels: { name: string; left: FolderEntry[] }[] = [];
  const enter = async (folder: string) => {
    await stack.enter(folder);
    levels.push({ name: folder, left: await stack.folder.list() });
  };
  await enter(name);
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const entry = level.left.pop();
    if (entry?.kind === "folder") await enter(entry.name);
    else if (entry) await stack.folder.removeFile(entry.name);
    else {
      await stack.leave();
      levels.pop();
      await stack.folder.removeEmpty(level.name);
    }
  }
}
