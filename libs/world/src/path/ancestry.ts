// Tracks which parent folders consecutive paths share, for paths in tree order. A path of ten thousand names is not split
// again for each file in it.

export class Ancestry {
  /** The innermost folder as a path. */
  #path = "";
  /** Where the name of each level ends in `#path`. */
  readonly #ends: number[] = [];

  get depth(): number {
    return this.#ends.length;
  }

  get path(): string {
    return this.#path;
  }

  /** Drops the levels that don't contain a folder; returns the names that remain to reach it. */
  cut(folder: string): string[] {
    while (this.#ends.length > 0 && !isIn(folder, this.#path)) {
      this.#ends.pop();
      this.#path = this.#path.slice(0, this.#ends.at(-1) ?? 0);
    }
    if (folder.length === this.#path.length) return [];
    return folder.slice(this.#path === "" ? 0 : this.#path.length + 1).split("/");
  }

  push(name: string): void {
    this.#path = this.#path === "" ? name : `${this.#path}/${name}`;
    this.#ends.push(this.#path.length);
  }
}

function isIn(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === "/");
}

/** A path as its folder, empty for the root, and its last name. */
export function splitPath(path: string): { folder: string; name: string } {
  const cut = path.lastIndexOf("/");
  return cut < 0 ? { folder: "", name: path } : { folder: path.slice(0, cut), name: path.slice(cut + 1) };
}
