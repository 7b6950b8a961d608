// Folders made, things removed and renamed. Each is one step of the file system: done or not done.

import { randomBytes } from "node:crypto";
import { WorldFault } from "../fault.ts";
import { type Folder, setFolderAttributes } from "../path/folder.ts";
import { hiddenPrefix, parseTarget } from "../path/parse.ts";
import { assertMovable, assertWritable, findProtected } from "../path/protect.ts";
import { removeTree } from "../path/remove-tree.ts";

/** One level. Throws `bad_path`, `not_found` (the parent), `file_exists`. */
export async function makeFolder(world: Folder, path: string): Promise<void> {
  const { parents, name } = parseTarget(path);
  if (parents.length === 0 && name === "server.properties")
    assertWritable(await findProtected(world), [name]);
  await using folder = await world.descend(parents);
  await folder.makeFolder(name);
  await setFolderAttributes(folder, name, await folder.stat());
  await folder.sync();
}

/** A file, a link itself, or a folder with all that is in it. Throws `bad_path`, `not_found`. */
export async function removePath(world: Folder, path: string): Promise<void> {
  const { parents, name } = parseTarget(path);
  await using folder = await world.descend(parents);
  if (!(await folder.find(name))) throw new WorldFault("not_found", `There is no ${path}.`);
  // Out of sight first: a folder is there or gone, never half gone.
  const gone = `${hiddenPrefix}delete-${randomBytes(8).toString("hex")}`;
  await folder.move(name, { folder: world, name: gone });
  await folder.sync();
  await removeTree(world, gone);
}

/** Never replaces. Throws `bad_path`, also for protected files, `not_found`, `file_exists`. */
export async function renamePath(world: Folder, path: string, to: string): Promise<void> {
  const source = parseTarget(path);
  const target = parseTarget(to);
  const known = await findProtected(world);
  await using from = await world.descend(source.parents);
  const stats = await from.find(source.name);
  if (!stats) throw new WorldFault("not_found", `There is no ${path}.`);
  assertMovable(known, stats);
  await using folder = await world.descend(target.parents);
  assertWritable(known, [...target.parents, target.name]);
  // The lock of the world keeps everybody else away, so looking and moving are one step for all but a kill, and a
  // kill finds the name at one place.
  if (await folder.find(target.name))
    throw new WorldFault("file_exists", `${to} is there already.`, { entry: to });
  await from.move(source.name, { folder, name: target.name });
  await folder.sync();
  await from.sync();
}
