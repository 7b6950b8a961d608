// The folder in which archives lie, as this process sees it. Only names that we make ourselves are ever touched.

import { readdir, stat, unlink } from "node:fs/promises";
import { basename, join } from "node:path";

const archiveShape = /^[a-z0-9-]+-(\d+)\.tar\.(zst|gz)$/;
const partialShape = /^\.[a-z0-9-]+-\d+\.tar\.(zst|gz)\.partial$/;

type ArchiveFile = { name: string; kind: "archive" | "partial"; changedAt: number };

export type ArchiveFolder = {
  /** Archives and partials; everything else is not ours. `isComplete` is false when something could not be looked at. */
  list: () => Promise<{ files: ArchiveFile[]; isComplete: boolean }>;
  /** Deletes one of them by its name or by what a row remembers; one that is gone already is fine. */
  remove: (nameOrRef: string) => Promise<void>;
};

export function openArchiveFolder(root: string): ArchiveFolder {
  return {
    list: async () => {
      const files: ArchiveFile[] = [];
      let isComplete = true;
      for (const name of await readdir(root)) {
        const kind = archiveShape.test(name) ? "archive" : partialShape.test(name) ? "partial" : undefined;
        if (!kind) continue;
        const found = await stat(join(root, name)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") isComplete = false;
        });
        if (found) files.push({ name, kind, changedAt: found.mtimeMs });
      }
      return { files: files.sort((a, b) => a.changedAt - b.changedAt), isComplete };
    },
    remove: async (nameOrRef) => {
      const name = basename(nameOrRef);
      if (!archiveShape.test(name) && !partialShape.test(name)) {
        throw new Error(`${name} is not an archive name`);
      }
      await unlink(join(root, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      });
    },
  };
}
