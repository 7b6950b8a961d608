// Creates folders, removes and renames paths. Each is one atomic step of the file system.

import { randomBytes } from "node:crypto";
import type { RemoveOnly } from "@svc/proto/world-task";
import { errnoOf, isWorldFault, WorldFault } from "../fault.ts";
import { type Folder, setFolderAttributes } from "../path/folder.ts";
import { hiddenPrefix, parseTarget } from "../path/parse.ts";
import { assertMovable, assertWritable, findProtected } from "../path/protect.ts";
import { removeTree } from "../path/remove-tree.ts";

/** Creates one folder; its parent must exist. Throws `bad_path`, `not_found` (the parent), `file_exists`. */
export async function makeFolder(world: Folder, path: string): Promise<void> {
  const { parents, name } = parseTarget(path);
  if (parents.length === 0 && name === "server.properties")
    assertWritable(await findProtected(world), [name]);
  await using folder = await world.descend(parents);
  await folder.makeFolder(name);
  await setFolderAttributes(folder, name, await folder.stat());
  await folder.sync();
}

/**
 * Removes a file, a link itself, or a folder with its contents. `only`: what it must be; the file system decides as it removes,
 * so that what arrives meanwhile is never lost. Throws `bad_path`, `not_found`, and with `only` `type_conflict`, `file_exists` for a
 * folder that is not empty.
 */
export async function removePath(world: Folder, path: string, only?: RemoveOnly): Promise<void> {
  const { parents, name } = parseTarget(path);
  await using folder = await world.descend(parents);
  if (!(await folder.find(name))) throw new WorldFault("not_found", `${path} does not exist.`);
  if (only) return await removeOnly(folder, { name, path, only });
  // Hidden first: a folder exists or is gone, never half removed.
  const gone = `${hiddenPrefix}delete-${randomBytes(8).toString("hex")}`;
  await folder.move(name, { folder: world, name: gone });
  await folder.sync();
  await removeTree(world, gone);
}

type Wanted = { name: string; path: string; only: RemoveOnly };

async function removeOnly(folder: Folder, { name, path, only }: Wanted): Promise<void> {
  await (only === "file" ? folder.removeFile(name) : folder.removeEmpty(name)).catch((error: unknown) => {
    if (errnoOf(error) === "EISDIR") throw new WorldFault("type_conflict", `${path} is a folder.`);
    if (only === "file") throw error;
    if (isWorldFault(error, "file_exists")) throw new WorldFault("file_exists", `${path} is not empty.`);
    if (isWorldFault(error, "bad_path")) throw new WorldFault("type_conflict", `${path} is not a folder.`);
    throw error;
  });
  await folder.sync();
}

/** Never replaces. Throws `bad_path`, also for protected files, `not_found`, `file_exists`. */
export async function renamePath(world: Folder, path: string, to: string): Promise<void> {
  const source = parseTarget(path);
  const target = parseTarget(to);
  const known = await findProtected(world);
  await using from = await world.descend(source.parents);
  const stats = await from.find(source.name);
  if (!stats) throw new WorldFault("not_found", `${path} does not exist.`);
  assertMovable(known, stats);
  await using folder = await world.descend(target.parents);
  assertWritable(known, [...target.parents, target.name]);
  // Under the lock of the world nobody else writes, so check and move are one step except for a kill, and after a
  // kill the name exists in one place.
  if (await folder.find(target.name))
    throw new WorldFault("file_exists", `${to} already exists.`, { entry: to });
  await from.move(source.name, { folder, name: target.name });
  await folder.sync();
  await from.sync();
}
