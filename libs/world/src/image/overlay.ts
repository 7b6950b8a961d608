// Which entries of an image's layers show. Layers are given from the top down, so that what an upper layer has or removes
// hides what comes later, and every path is written once.

import { unsafe } from "../archive/tar-entry.ts";
import { splitPath } from "../path/ancestry.ts";

type Kind = "file" | "folder";
type Taken = { kind: Kind; layer: number };

const whiteoutPrefix = ".wh.";
const opaqueName = ".wh..wh..opq";

/** True for a name that removes another one from the layers below, or empties its folder. */
export function isWhiteout(name: string): boolean {
  return name.startsWith(whiteoutPrefix);
}

export type Overlay = {
  /**
   * True when the entry shows and must be written. False for what an upper layer hides, and for a whiteout, which hides its
   * path from the layers below. Throws for an entry that its own layer contradicts.
   */
  admits(path: string, kind: Kind): boolean;
  /** The entries that follow are those of the next layer below. */
  endLayer(): void;
};

export function createOverlay(): Overlay {
  const taken = new Map<string, Taken>();
  const removed = new Set<string>();
  const emptied = new Set<string>();
  let pending: { removed: string[]; emptied: string[] } = { removed: [], emptied: [] };
  let layer = 0;

  const take = (path: string, kind: Kind) => {
    taken.set(path, { kind, layer });
    for (const outer of foldersAbove(path))
      if (!taken.has(outer)) taken.set(outer, { kind: "folder", layer });
  };
  const isHidden = (path: string) =>
    removed.has(path) ||
    foldersAbove(path).some(
      (outer) => removed.has(outer) || emptied.has(outer) || isFileAbove(taken.get(outer), layer, outer),
    );
  return {
    admits: (path, kind) => {
      const { folder, name } = splitPath(path);
      if (name === opaqueName) {
        pending.emptied.push(folder);
        return false;
      }
      if (isWhiteout(name)) {
        pending.removed.push(join(folder, name.slice(whiteoutPrefix.length)));
        return false;
      }
      if (isHidden(path)) return false;
      const known = taken.get(path);
      if (known?.layer === layer && (known.kind === "file" || kind === "file"))
        throw unsafe(path, "its layer has it twice");
      if (known === undefined) take(path, kind);
      return known === undefined;
    },
    endLayer: () => {
      for (const path of pending.removed) removed.add(path);
      for (const path of pending.emptied) emptied.add(path);
      pending = { removed: [], emptied: [] };
      layer += 1;
    },
  };
}

/** Above a path of a lower layer a file hides it; in one layer nothing can be below a file. */
function isFileAbove(outer: Taken | undefined, layer: number, path: string): boolean {
  if (outer?.kind !== "file") return false;
  if (outer.layer === layer) throw unsafe(path, "its layer has it as a file and entries below it");
  return true;
}

/** From the innermost to the root, which is the empty path. */
function foldersAbove(path: string): string[] {
  const outer: string[] = [];
  for (let at = path.lastIndexOf("/"); at >= 0; at = path.lastIndexOf("/", at - 1)) {
    outer.push(path.slice(0, at));
    if (at === 0) break;
  }
  return path === "" ? outer : [...outer, ""];
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
