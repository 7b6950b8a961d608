// The folders from a root down to one folder, however deep. Only the innermost few stay open; an outer one is reopened by
// `..` of its child and must be the folder that was left.

import type { Stats } from "node:fs";
import type { Folder, Identity } from "./folder.ts";

/** Descriptors that one stack holds. */
export const maxOpenFolders = 32;

type Level = { folder: Folder | undefined; identity: Identity };

export class FolderStack implements AsyncDisposable {
  readonly #root: Folder;
  readonly #levels: Level[] = [];

  /** The caller closes the root. */
  constructor(root: Folder) {
    this.#root = root;
  }

  get depth(): number {
    return this.#levels.length;
  }

  /** The innermost folder, open until the stack leaves it or goes far below it. */
  get folder(): Folder {
    return this.#levels.at(-1)?.folder ?? this.#root;
  }

  /** Enters a child folder. Throws as `Folder.enter`. */
  async enter(name: string): Promise<Stats> {
    const folder = await this.folder.enter(name);
    try {
      const stats = await folder.stat();
      this.#levels.push({ folder, identity: { dev: stats.dev, ino: stats.ino } });
      const far = this.#levels.at(-1 - maxOpenFolders);
      const closing = far?.folder;
      if (far && closing) {
        far.folder = undefined;
        await closing.close();
      }
      return stats;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }

  /**
   * Returns to the parent; `last` runs on the folder that is left, before it is closed. Throws when the parent is a
   * different folder by now.
   */
  async leave(last?: (left: Folder) => Promise<void>): Promise<void> {
    const inner = this.#levels.at(-1)?.folder;
    if (!inner) throw new Error("there is no folder to leave");
    const outer = this.#levels.at(-2);
    // Before `last`, which may take away the right to read the inner folder.
    if (outer && !outer.folder) outer.folder = await inner.outer(outer.identity);
    await last?.(inner);
    this.#levels.pop();
    await inner.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { folder } of this.#levels.splice(0)) await folder?.close();
  }
}
