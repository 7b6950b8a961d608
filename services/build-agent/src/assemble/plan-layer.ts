// Decides which entries a COPY adds to an image.

import { posix } from "node:path";
import { type Unpacking, unpackSource } from "./archive-source.ts";
import { type Context, filesBelow, findSources, type SourceFile } from "./context-files.ts";
import type { FileTree } from "./file-tree.ts";
import type { Copy } from "./recipe.ts";

export type LayerEntry = {
  /** Relative, as layers name it. */
  path: string;
  kind: "file" | "folder" | "link";
  mode: number;
  uid: number;
  gid: number;
  size: number;
  /** Of a file, on disk. */
  at?: string;
  /** Of a link. */
  target?: string;
};

/** Sorted, folders before what is in them. The tree is as the image is afterwards. */
export async function planLayer(
  copy: Copy,
  context: Context & { unpacking: Unpacking },
  tree: FileTree,
): Promise<LayerEntry[]> {
  const layer = new Map<string, LayerEntry>();
  const sources = (await Promise.all(copy.sources.map((source) => findSources(context, source)))).flat();
  if (sources.length > 1 && !copy.target.endsWith("/"))
    throw new Error(`${copy.target} must end with a slash: several sources match`);
  const target = tree.resolve(copy.target);
  for (const { name, files } of sources) {
    const isInside = copy.target.endsWith("/") || tree.kindOf(target) === "folder";
    const [first] = files;
    const unpacked =
      copy.isAdd && first?.kind === "file" ? await unpackSource(first.at, context.unpacking) : undefined;
    const isFolder = unpacked !== undefined || first?.kind === "folder";
    const base = isFolder || !isInside ? target : posix.join(target, posix.basename(name));
    const placed = unpacked === undefined ? files : await filesBelow(unpacked);
    if (unpacked !== undefined) {
      context.unpacking.entries += placed.length;
      context.unpacking.bytes += placed.reduce((sum, { size }) => sum + size, 0);
    }
    for (const file of placed) place(file, { path: posix.join(base, file.path), copy, tree, layer });
  }
  return [...layer.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** A folder that an instruction needs, with the folders above it. */
export function planFolder(path: string, tree: FileTree): LayerEntry[] {
  const layer = new Map<string, LayerEntry>();
  makeFolders(tree.resolve(path), tree, layer);
  return [...layer.values()];
}

type Placing = { path: string; copy: Copy; tree: FileTree; layer: Map<string, LayerEntry> };

function place(file: SourceFile, { path: wanted, copy, tree, layer }: Placing): void {
  if (file.kind === "folder") {
    const path = tree.resolve(wanted);
    makeFolders(posix.dirname(path), tree, layer);
    // A folder that the image has stays as it is.
    if (tree.kindOf(path) === undefined) put({ ...file, path }, copy, { tree, layer });
    else if (tree.kindOf(path) !== "folder") throw new Error(`${path} is not a folder in the image`);
    return;
  }
  const folder = tree.resolve(posix.dirname(wanted));
  const path = posix.join(folder, posix.basename(wanted));
  makeFolders(folder, tree, layer);
  if (tree.kindOf(path) === "folder") throw new Error(`${path} is a folder in the image`);
  put({ ...file, path }, copy, { tree, layer });
}

function put(
  file: SourceFile,
  { owner, mode }: Copy,
  { tree, layer }: Pick<Placing, "tree" | "layer">,
): void {
  const { path, kind, size, at, target } = file;
  const own = kind === "link" ? file.mode : (mode ?? file.mode);
  layer.set(path, {
    path: path.slice(1),
    kind,
    mode: kind === "folder" && mode !== undefined ? own | ((own & 0o444) >> 2) : own,
    ...owner,
    size,
    ...(kind === "file" && { at }),
    ...(target !== undefined && { target }),
  });
  tree.add(path, kind === "link" ? { kind, target: target ?? "" } : { kind });
}

function makeFolders(path: string, tree: FileTree, layer: Map<string, LayerEntry>): void {
  const kind = tree.kindOf(path);
  if (kind === "folder") return;
  if (kind !== undefined) throw new Error(`${path} is not a folder in the image`);
  makeFolders(posix.dirname(path), tree, layer);
  layer.set(path, { path: path.slice(1), kind: "folder", mode: 0o755, uid: 0, gid: 0, size: 0 });
  tree.add(path, { kind: "folder" });
}
