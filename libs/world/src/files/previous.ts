// What a text file was before it is replaced (docs/reference/files.md#history).

import type { Stats } from "node:fs";
import type { Folder } from "../path/folder.ts";

/** Content of a file that is about to be replaced; undefined when it is large or no text, so that it is not kept. */
export async function readPrevious(
  folder: Folder,
  { name, there, mostBytes }: { name: string; there: Stats | undefined; mostBytes: number },
): Promise<Buffer | undefined> {
  if (!there?.isFile() || there.size > mostBytes) return undefined;
  await using file = await folder.openFile(name);
  const content = await file.readFile();
  return content.length <= mostBytes && isText(content) ? content : undefined;
}

function isText(content: Buffer): boolean {
  if (content.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(content);
    return true;
  } catch {
    return false;
  }
}
