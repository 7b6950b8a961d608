// Opens folders of one tree by path and keeps the way to the last one open, for work in tree order.

import { isWorldFault } from "../fault.ts";
import { Ancestry } from "./ancestry.ts";
import type { Folder } from "./folder.ts";
import { FolderStack } from "./folder-stack.ts";

export class Cursor implements AsyncDisposable {
  readonly #stack: FolderStack;
  readonly #ancestry = new Ancestry();

  /** The caller closes the root. */
  constructor(root: Folder) {
    this.#stack = new FolderStack(root);
  }

  /**
   * The folder at a path, empty for the root, open until the next call. `make` creates missing folders. Throws as
   * `Folder.enter`.
   */
  async at(path: string, options: { make?: boolean } = {}): Promise<Folder> {
    const names = this.#ancestry.cut(path);
    while (this.#stack.depth > this.#ancestry.depth) await this.#stack.leave();
    for (const name of names) {
      await this.#stack.enter(name).catch(async (error: unknown) => {
        if (!options.make || !isWorldFault(error, "not_found")) throw error;
        await this.#stack.folder.makeFolder(name);
        await this.#stack.enter(name);
      });
      this.#ancestry.push(name);
    }
    return this.#stack.folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }
}
