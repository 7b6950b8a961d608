// Which files an image has, as far as a target of COPY depends on it.

import { posix } from "node:path";

type Leaf = { kind: "file" } | { kind: "link"; target: string };
type FolderNode = { kind: "folder"; below: Map<string, TreeNode> };
type TreeNode = Leaf | FolderNode;

/** What is added; a folder keeps what is in it. */
type NewNode = Leaf | { kind: "folder" };

const mostLinks = 40;
const mostFiles = 1_000_000;
const whiteout = ".wh.";

/** Paths are absolute; the root is always there. */
export class FileTree {
  readonly #root: FolderNode = { kind: "folder", below: new Map() };
  #count = 0;

  kindOf(path: string): TreeNode["kind"] | undefined {
    return this.#find(namesOf(path))?.kind;
  }

  /** Makes the folders above it, over whatever else was there. */
  add(path: string, node: NewNode): void {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) return;
    const folder = this.#makeFolder(names);
    const earlier = folder.below.get(name);
    if (node.kind === "folder" && earlier?.kind === "folder") return;
    this.#set(folder, name, node.kind === "folder" ? { kind: "folder", below: new Map() } : node);
  }

  /** An entry of a layer; a whiteout removes what lower layers had. */
  addLayerEntry(path: string, node: NewNode): void {
    const name = posix.basename(path);
    if (!name.startsWith(whiteout)) {
      this.add(path, node);
      return;
    }
    const folder = this.#find(namesOf(posix.dirname(path)));
    if (folder?.kind !== "folder") return;
    if (name === `${whiteout}${whiteout}.opq`) folder.below.clear();
    else folder.below.delete(name.slice(whiteout.length));
  }

  /** The path behind all links on the way, the last one too; what does not exist stays as it is written. */
  resolve(path: string): string {
    let links = 0;
    let left = namesOf(path);
    let at: string[] = [];
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const node = this.#find([...at, name]);
      if (node?.kind !== "link") {
        at.push(name);
        continue;
      }
      links += 1;
      if (links > mostLinks) throw new Error(`${path} has too many links in the image`);
      left = [...namesOf(posix.resolve(`/${at.join("/")}`, node.target)), ...left];
      at = [];
    }
    return `/${at.join("/")}`;
  }

  #find(names: readonly string[]): TreeNode | undefined {
    let node: TreeNode | undefined = this.#root;
    for (const name of names) node = node?.kind === "folder" ? node.below.get(name) : undefined;
    return node;
  }

  #makeFolder(names: readonly string[]): FolderNode {
    let folder = this.#root;
    for (const name of names) {
      const next = folder.below.get(name);
      if (next?.kind === "folder") folder = next;
      else folder = this.#set(folder, name, { kind: "folder", below: new Map() });
    }
    return folder;
  }

  #set<Node extends TreeNode>(folder: FolderNode, name: string, node: Node): Node {
    this.#count += 1;
    if (this.#count > mostFiles) throw new Error(`the image has more than ${mostFiles} files`);
    folder.below.set(name, node);
    return node;
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}
