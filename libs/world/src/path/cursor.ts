// Goes from folder to folder of one tree and keeps the way to the last one, for whoever works through a tree in order.

import { isWorldFault } from "../fault.ts";
import { Ancestry } from "./ancestry.ts";
import type { Folder } from "./folder.ts";
import { Trail } from "./folder-stack.ts";

export class Cursor implements AsyncDisposable {
  readonly #trail: Trail;
  readonly #ancestry = new Ancestry();

  /** The root stays its owner's to close. */
  constructor(root: Folder) {
    this.#trail = new Trail(root);
  }

  /**
   * The folder below by its path, empty for the root, open until the next call. `make` makes what is missing. As
   * `Folder.enter` otherwise.
   */
  async at(path: string, options: { make?: boolean } = {}): Promise<Folder> {
    const names = this.#ancestry.cut(path);
    while (this.#trail.depth > this.#ancestry.depth) await this.#trail.leave();
    for (const name of names) {
      await this.#trail.enter(name).catch(async (error: unknown) => {
        if (!options.make || !isWorldFault(error, "not_found")) throw error;
        await this.#trail.folder.makeFolder(name);
        await this.#trail.enter(name);
      });
      this.#ancestry.push(name);
    }
    return this.#trail.folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#trail[Symbol.asyncDispose]();
  }
}
