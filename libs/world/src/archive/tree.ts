// The tree of an archive's entries, by name, so that a long path costs only its last name.

import { WorldFault } from "../fault.ts";
import { Ancestry, splitPath } from "../path/ancestry.ts";
import { printable } from "./tar-entry.ts";
import type { TarEntry } from "./tar-header.ts";

const mostEntries = 2_000_000;

/** One name; in a folder, the names below it. */
export type TreeNode = { kind: TarEntry["kind"]; below: Map<string, TreeNode> | undefined };

/** Collects the tree of an archive and rejects an impossible one: a name twice, a file with entries in it. */
export class Tree {
  readonly root: TreeNode = { kind: "folder", below: undefined };
  readonly #ancestry = new Ancestry();
  readonly #way: TreeNode[] = [this.root];
  #count = 0;

  /**
   * The node of an entry, new unless it is a folder. Throws `archive_invalid` for a repeated name, `type_conflict` for a
   * file with entries in it.
   */
  add({ path, kind }: Pick<TarEntry, "path" | "kind">): TreeNode {
    const { folder, name } = splitPath(path);
    const outer = this.#enter(folder);
    const before = outer.below?.get(name);
    if (before === undefined) return this.#put(outer, name, kind);
    if (before.kind !== kind) throw conflict(path);
    if (kind === "folder") return before;
    throw new WorldFault("archive_invalid", `The archive holds ${printable(path)} twice.`, {
      entry: printable(path),
    });
  }

  #enter(folder: string): TreeNode {
    const names = this.#ancestry.cut(folder);
    this.#way.length = this.#ancestry.depth + 1;
    let node = this.#way.at(-1) ?? this.root;
    for (const name of names) {
      node = node.below?.get(name) ?? this.#put(node, name, "folder");
      this.#ancestry.push(name);
      this.#way.push(node);
      if (node.kind === "file") throw conflict(this.#ancestry.path);
    }
    return node;
  }

  #put(outer: TreeNode, name: string, kind: TreeNode["kind"]): TreeNode {
    this.#count += 1;
    if (this.#count > mostEntries)
      throw new WorldFault("archive_invalid", `The archive holds more than ${mostEntries} entries.`);
    const node: TreeNode = { kind, below: undefined };
    outer.below ??= new Map();
    outer.below.set(name, node);
    return node;
  }
}

function conflict(path: string): WorldFault {
  const entry = printable(path);
  return new WorldFault("type_conflict", `${entry} is both a file and a folder in the archive.`, { entry });
}
