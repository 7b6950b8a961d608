// What somebody dropped or chose, with the folders in it. Names come as the device has them.

import type { ChosenFile } from "./uploads.ts";

/** Files of a chooser; those of a folder have their path in it. */
export function filesOfChooser(files: readonly File[]): ChosenFile[] {
  return files.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Everything that was dropped. The transfer is empty after the event, so what is in it is taken at once. */
export async function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  const items = [...transfer.items].map((item) => ({
    entry: item.webkitGetAsEntry(),
    file: item.getAsFile(),
  }));
  // What comes from no file system, such as a picture of another page, has no entry.
  const loose = items.flatMap(({ entry, file }) => (entry === null && file ? [file] : []));
  const entries = items.flatMap(({ entry }) => entry ?? []);
  return [...filesOfChooser(loose), ...(await filesOfEntries(entries, ""))];
}

async function filesOfEntries(entries: readonly FileSystemEntry[], folder: string): Promise<ChosenFile[]> {
  const found: ChosenFile[] = [];
  for (const entry of entries) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (isFile(entry)) found.push({ path, file: await fileOf(entry) });
    else if (isFolder(entry)) found.push({ path }, ...(await filesOfEntries(await childrenOf(entry), path)));
  }
  return found;
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** A reader gives at most 100 at a time, and none at the end. */
async function childrenOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}
