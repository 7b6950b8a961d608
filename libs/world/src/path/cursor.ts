// Goes from folder to folder of one tree and keeps the way to the last one open, for whoever works through a tree in order.

import { isWorldFault } from "../fault.ts";
import type { Folder } from "./folder.ts";

export class Cursor implements AsyncDisposable {
  readonly #root: Folder;
  #way: { name: string; folder: Folder }[] = [];

  /** The root stays its owner's to close. */
  constructor(root: Folder) {
    this.#root = root;
  }

  /** The folder below by names, open until the next call. `make` makes what is missing. As `Folder.enter` otherwise. */
  async at(names: readonly string[], options: { make?: boolean } = {}): Promise<Folder> {
    let depth = 0;
    while (depth < names.length && this.#way[depth]?.name === names[depth]) depth += 1;
    for (const { folder } of this.#way.splice(depth)) await folder.close();
    for (const name of names.slice(depth)) {
      const outer = this.#way.at(-1)?.folder ?? this.#root;
      const folder = await outer.enter(name).catch(async (error: unknown) => {
        if (!options.make || !isWorldFault(error, "not_found")) throw error;
        await outer.makeFolder(name);
        return outer.enter(name);
      });
      this.#way.push({ name, folder });
    }
    return this.#way.at(-1)?.folder ?? this.#root;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { folder } of this.#way.splice(0)) await folder.close();
  }
}
