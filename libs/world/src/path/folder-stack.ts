// The way from a root down to one folder and back up, however deep: only the innermost few folders are held open. An outer
// one is opened again by `..` of the one inside it, and must be the very folder that was left.

import type { Stats } from "node:fs";
import type { Folder, Identity } from "./folder.ts";

/** Descriptors that one way holds. */
export const maxOpenFolders = 32;

type Level = { folder: Folder | undefined; identity: Identity };

export class FolderStack implements AsyncDisposable {
  readonly #root: Folder;
  readonly #levels: Level[] = [];

  /** The root stays its owner's to close. */
  constructor(root: Folder) {
    this.#root = root;
  }

  get depth(): number {
    return this.#levels.length;
  }

  /** The innermost folder, open until the way leaves it or goes far below it. */
  get folder(): Folder {
    return this.#levels.at(-1)?.folder ?? this.#root;
  }

  /** Goes one folder further in. Throws as `Folder.enter`. */
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
   * Goes one folder out; `last` is what is still to be done with the one that is left. Throws when the outer folder is
   * another one by now.
   */
  async leave(last?: (left: Folder) => Promise<void>): Promise<void> {
    const inner = this.#levels.at(-1)?.folder;
    if (!inner) throw new Error("there is no folder to leave");
    const outer = this.#levels.at(-2);
    // Before `last` may take away the right to look into the inner one.
    if (outer && !outer.folder) outer.folder = await inner.outer(outer.identity);
    await last?.(inner);
    this.#levels.pop();
    await inner.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { folder } of this.#levels.splice(0)) await folder?.close();
  }
}
