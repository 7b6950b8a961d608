// The archive folder as mounted in this process. Only files with names that storage generates are touched.

import { readdir, stat, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { manifestNameOf, parseStoreName, type StoredArchive } from "@svc/world";

type ListedFile = {
  /** Of an archive its own in either form, of a partial file that of the file. */
  name: string;
  archive: string;
  kind: "archive" | "partial";
  changedAt: number;
};

export type ArchiveFolder = {
  /**
   * Archives in either form, under their names, and partial files; others are ignored. `isComplete` is false when a file could
   * not be read.
   */
  list: () => Promise<{ files: ListedFile[]; isComplete: boolean }>;
  /** Deletes an archive by its name or path, in both forms, or a partial file; a missing one is fine. */
  remove: (nameOrRef: string) => Promise<void>;
  /** Whether an archive, by its name or path, is there as chunks. */
  isDeduplicated: (nameOrRef: string) => Promise<boolean>;
};

export function openArchiveFolder(root: string): ArchiveFolder {
  return {
    list: async () => {
      const files: ListedFile[] = [];
      let isComplete = true;
      for (const name of await readdir(root)) {
        const parsed = parseStoreName(name);
        if (!parsed || "pack" in parsed) continue;
        const found = await stat(join(root, name)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") isComplete = false;
        });
        if (found) files.push({ ...listedAs(parsed), changedAt: found.mtimeMs });
      }
      return { files: files.sort((a, b) => a.changedAt - b.changedAt), isComplete };
    },
    remove: async (nameOrRef) => {
      const name = basename(nameOrRef);
      const kind = parseStoreName(name)?.kind;
      if (kind !== "whole" && kind !== "partial" && kind !== "lease")
        throw new Error(`${name} is not an archive name`);
      for (const one of kind === "whole" ? [name, manifestNameOf(name)] : [name])
        await unlink(join(root, one)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ENOENT") throw error;
        });
    },
    isDeduplicated: async (nameOrRef) => {
      const found = await stat(join(root, manifestNameOf(basename(nameOrRef)))).catch(() => undefined);
      return found !== undefined;
    },
  };
}

function listedAs({ kind, name, archive }: StoredArchive): Omit<ListedFile, "changedAt"> {
  return kind === "partial" || kind === "lease"
    ? { name, archive, kind: "partial" }
    : { name: archive, archive, kind: "archive" };
}
