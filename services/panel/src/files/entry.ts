import type { Output } from "../api/operations.ts";
import type { Language } from "../words/language.ts";

/** One name in a folder. */
export type Entry = Output<"files.list">["entries"][number];

/** Folders first, then by name as people count: `world2` before `world10`. */
export function compareEntries(language: Language): (a: Entry, b: Entry) => number {
  const { compare } = new Intl.Collator(language, { numeric: true });
  return (a, b) =>
    Number(b.is_dir) - Number(a.is_dir) || compare(a.name, b.name) || (a.name < b.name ? -1 : 1);
}

/** A zip is the only archive that is extracted. */
export function isArchive({ name, is_dir }: Entry): boolean {
  return !is_dir && /\.zip$/i.test(name);
}
