// Looks for what a server could not use in its own world (docs/reference/server-resource.md#objects). Everything that servers and world Jobs
// write belongs to the user that both run as; what came otherwise (a volume that was filled by hand, a world that a release
// restored whose Jobs were root) and shuts that user out would be damaged by a server that runs all the same.
// Links are never followed, and no tree is too deep.

import { accessSync, constants, fstatSync, lstatSync, readdirSync } from "node:fs";
import { type Folder, openFolder } from "./folder.ts";

const namedFailures = 20;
/** Belongs to the file system of the volume, and to root. */
const lostAndFound = "lost+found";

type Checked = {
  seen: number;
  /** Files and folders of other users that this one can't read and write. */
  closed: number;
  /** The first of them, as paths. */
  paths: string[];
};

/** Walks the volume. Throws when its root is a link or is missing. */
export function checkVolume(path: string): Checked {
  const result: Checked = { seen: 0, closed: 0, paths: [] };
  const levels: Level[] = [];
  try {
    levels.push(levelOf(openFolder(path), ""));
    look(result, levels[0]?.folder?.at(".") ?? Buffer.alloc(0), ".");
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const name = level.left.pop();
      if (name === undefined) leave(result, levels);
      else if (level.folder && !(levels.length === 1 && name.toString() === lostAndFound))
        enter({ result, levels }, level.folder.at(name), `${level.shown}${name}`);
    }
  } catch (error) {
    if (levels.length > 0 || !isDenied(error)) throw error;
    return { seen: 1, closed: 1, paths: ["."] };
  } finally {
    for (const { folder } of levels) folder?.close();
  }
  return result;
}

/** Folders that are held open; an outer one is opened again by the `..` of the one inside it. */
const mostOpen = 32;

type Level = {
  folder: Folder | undefined;
  identity: { dev: number; ino: number };
  shown: string;
  left: Buffer[];
};

function levelOf(folder: Folder, shown: string): Level {
  try {
    const { dev, ino } = fstatSync(folder.fd);
    const left = readdirSync(folder.at("."), { encoding: "buffer" });
    return { folder, identity: { dev, ino }, shown, left };
  } catch (error) {
    folder.close();
    throw error;
  }
}

type Walk = { result: Checked; levels: Level[] };

function enter({ result, levels }: Walk, entry: Buffer, shown: string): void {
  if (look(result, entry, shown) !== "folder") return;
  try {
    levels.push(levelOf(openFolder(entry), `${shown}/`));
  } catch (error) {
    // Its own server shut it.
    if (!isDenied(error)) throw error;
    return;
  }
  const far = levels.at(-1 - mostOpen);
  far?.folder?.close();
  if (far) far.folder = undefined;
}

function leave(result: Checked, levels: Level[]): void {
  const inner = levels.pop();
  const outer = levels.at(-1);
  try {
    if (outer && inner?.folder && !outer.folder) outer.folder = openOuter(inner.folder, outer.identity);
  } catch {
    // The world is in motion, or its folders shut us out: what is left of them counts as closed.
    note(result, outer?.shown ?? "");
    levels.length = 0;
  } finally {
    inner?.folder?.close();
  }
}

function openOuter(inner: Folder, { dev, ino }: Level["identity"]): Folder {
  const outer = openFolder(inner.at(".."));
  const found = fstatSync(outer.fd);
  if (found.dev === dev && found.ino === ino) return outer;
  outer.close();
  throw Object.assign(new Error("a folder was moved"), { code: "ESTALE" });
}

const isDenied = (error: unknown) => (error as NodeJS.ErrnoException).code === "EACCES";

const { R_OK, W_OK, X_OK } = constants;

function look(result: Checked, entry: Buffer, shown: string): "folder" | "other" {
  const stat = lstatSync(entry);
  result.seen += 1;
  const isFolder = stat.isDirectory();
  if (stat.uid !== process.getuid?.() && (isFolder || stat.isFile())) {
    try {
      accessSync(entry, isFolder ? R_OK | W_OK | X_OK : R_OK | W_OK);
    } catch {
      note(result, shown);
      return "other";
    }
  }
  return isFolder ? "folder" : "other";
}

function note(result: Checked, path: string): void {
  result.closed += 1;
  if (result.paths.length < namedFailures) result.paths.push(path.slice(-200));
}
