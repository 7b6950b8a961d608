// What can be packed as a zip, and under which name (docs/reference/files.md#archive). Pure.

import { isFileName } from "./path.ts";

/** The service takes no more at once. */
const mostNames = 100;

/** The name that is proposed for a zip of one file or folder; empty where several are chosen. */
export function archiveNameOf(first: string | undefined): string {
  return first === undefined ? "" : `${first}.zip`;
}

/** Why a zip cannot be made; undefined when it can. */
export function whyNoArchive(zip: string, count: number): "name" | "ending" | "many" | undefined {
  if (!isFileName(zip)) return "name";
  if (!/.\.zip$/i.test(zip)) return "ending";
  return count > mostNames ? "many" : undefined;
}
