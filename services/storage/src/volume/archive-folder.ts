// The archive folder as mounted in this process. Only files with names that storage generates are touched.

import { readdir, stat, unlink } from "node:fs/promises";
import { basename, join } from "node:path";

const archiveShape = /^[a-z0-9-]+-(\d+)\.tar\.(zst|gz)$/;
const partialShape = /^\.[a-z0-9-]+-\d+\.tar\.(zst|gz)\.partial$/;

type ArchiveFile = { name: string; kind: "archive" | "partial"; changedAt: number };

export type ArchiveFolder = {
  /** Archives and partial files; others are ignored. `isComplete` is false when a file could not be read. */
  list: () => Promise<{ files: ArchiveFile[]; isComplete: boolean }>;
  /** Deletes an archive by its name or path; a missing one is fine. */
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
