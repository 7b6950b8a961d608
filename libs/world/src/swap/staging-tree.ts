// Where a new tree is built before the switch: a hidden folder at the root of the world, so on the same volume, with the
// new tree in `new` and replaced files in `old`.

import { randomBytes } from "node:crypto";
import type { Folder } from "../path/folder.ts";
import { hiddenPrefix } from "../path/parse.ts";
import { removeTree } from "../path/remove-tree.ts";

const freshName = "new";
const replacedName = "old";

export class StagingTree implements AsyncDisposable {
  /** Its name at the root of the world. */
  readonly name: string;
  readonly root: Folder;
  readonly folder: Folder;
  readonly fresh: Folder;
  readonly replaced: Folder;

  private constructor(parts: Pick<StagingTree, "name" | "root" | "folder" | "fresh" | "replaced">) {
    this.name = parts.name;
    this.root = parts.root;
    this.folder = parts.folder;
    this.fresh = parts.fresh;
    this.replaced = parts.replaced;
  }

  static async make(root: Folder, kind: "restore" | "unzip" | "install"): Promise<StagingTree> {
    const name = `${hiddenPrefix}${kind}-${randomBytes(8).toString("hex")}`;
    await root.makeFolder(name, 0o700);
    try {
      await using folder = await root.enter(name);
      await folder.makeFolder(freshName, 0o700);
      await folder.makeFolder(replacedName, 0o700);
      return await StagingTree.open(root, name);
    } catch (error) {
      await removeTree(root, name).catch(() => undefined);
      throw error;
    }
  }

  /** Opens one that an earlier run left. Throws as `Folder.enter` when it is incomplete. */
  static async open(root: Folder, name: string): Promise<StagingTree> {
    const folder = await root.enter(name);
    try {
      const fresh = await folder.enter(freshName);
      const replaced = await folder.enter(replacedName).catch(async (error: unknown) => {
        await fresh.close();
        throw error;
      });
      return new StagingTree({ name, root, folder, fresh, replaced });
    } catch (error) {
      await folder.close();
      throw error;
    }
  }

  /** Removes it with its contents. */
  async remove(): Promise<void> {
    await removeTree(this.root, this.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.replaced.close();
    await this.fresh.close();
    await this.folder.close();
  }
}
