// Gives a world to the user that servers run as (docs/reference/server-resource.md#objects). It runs as root over whatever players and plugins
// left there: links are given away themselves, never what they point to, and no tree is too deep.

import { fstatSync, lchownSync, lstatSync, readdirSync } from "node:fs";
import { type Folder, openFolder } from "./folder.ts";

const ownerId = 1000;
const namedFailures = 20;

type Prepared = {
  seen: number;
  changed: number;
  failed: number;
  /** The first of them, as path and reason. */
  failures: string[];
};

type Owner = { uid: number; gid: number };

/** Walks the volume; only a root that cannot be opened throws. */
export function prepareData(path: string, owner: Owner = { uid: ownerId, gid: ownerId }): Prepared {
  const result: Prepared = { seen: 0, changed: 0, failed: 0, failures: [] };
  const levels: Level[] = [levelOf(openFolder(path), "")];
  try {
    give(result, owner, { entry: levels[0]?.folder?.at(".") ?? Buffer.alloc(0), shown: "." });
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const name = level.left.pop();
      if (name === undefined) leave(result, levels);
      else if (level.folder)
        lookAt({ result, owner, levels }, level.folder.at(name), `${level.shown}${name}`);
    }
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

type Walk = { result: Prepared; owner: Owner; levels: Level[] };

function lookAt({ result, owner, levels }: Walk, entry: Buffer, shown: string): void {
  if (!give(result, owner, { entry, shown })) return;
  try {
    levels.push(levelOf(openFolder(entry), `${shown}/`));
  } catch (error) {
    fail(result, shown, error);
  }
  const far = levels.at(-1 - mostOpen);
  far?.folder?.close();
  if (far) far.folder = undefined;
}

function leave(result: Prepared, levels: Level[]): void {
  const inner = levels.pop();
  const outer = levels.at(-1);
  try {
    if (outer && inner?.folder && !outer.folder) outer.folder = openOuter(inner.folder, outer.identity);
  } catch (error) {
    // The world is in motion, or its folders shut us out: what is left of them is told as a failure.
    fail(result, outer?.shown ?? "", error);
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

/** True for a folder. */
function give(result: Prepared, owner: Owner, { entry, shown }: { entry: Buffer; shown: string }): boolean {
  try {
    const stat = lstatSync(entry);
    result.seen += 1;
    if (stat.uid !== owner.uid || stat.gid !== owner.gid) {
      lchownSync(entry, owner.uid, owner.gid);
      result.changed += 1;
    }
    return stat.isDirectory();
  } catch (error) {
    fail(result, shown, error);
    return false;
  }
}

function fail(result: Prepared, path: string, error: unknown): void {
  result.failed += 1;
  const { code = "unknown" } = error as NodeJS.ErrnoException;
  if (result.failures.length < namedFailures) result.failures.push(`${path.slice(-200)}: ${code}`);
}
