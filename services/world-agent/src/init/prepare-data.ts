// Gives a world to the user that servers run as (behaviour.md a.5). It runs as root over whatever players and plugins
// left there: links are given away themselves, never what they point to.

import { lchownSync, lstatSync, readdirSync } from "node:fs";
import { type Folder, openFolder } from "./folder.ts";

export const ownerId = 1000;
const namedFailures = 20;

export type Prepared = {
  seen: number;
  changed: number;
  failed: number;
  /** The first of them, as path and reason. */
  failures: string[];
};

export type Owner = { uid: number; gid: number };

/** Walks the volume; only a root that cannot be opened throws. */
export function prepareData(path: string, owner: Owner = { uid: ownerId, gid: ownerId }): Prepared {
  const result: Prepared = { seen: 0, changed: 0, failed: 0, failures: [] };
  const root = openFolder(path);
  try {
    give(result, owner, { entry: root.at("."), shown: "." });
    walk(result, owner, { folder: root, shown: "" });
  } finally {
    root.close();
  }
  return result;
}

function walk(result: Prepared, owner: Owner, { folder, shown }: { folder: Folder; shown: string }): void {
  for (const name of readdirSync(folder.at("."), { encoding: "buffer" })) {
    const entry = folder.at(name);
    const path = `${shown}${name.toString("utf8")}`;
    const isFolder = give(result, owner, { entry, shown: path });
    if (!isFolder) continue;
    let inner: Folder | undefined;
    try {
      inner = openFolder(entry);
      walk(result, owner, { folder: inner, shown: `${path}/` });
    } catch (error) {
      fail(result, path, error);
    } finally {
      inner?.close();
    }
  }
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
  if (result.failures.length < namedFailures) result.failures.push(`${path}: ${code}`);
}
