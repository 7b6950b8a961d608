// Files of a world that differ: from a backup that is restored, or between two backups. Pure.

import type { Language } from "../words/language.ts";

/** In the order in which they are told: what is lost first. */
const changes = ["removed", "changed", "added"] as const;
type Kind = (typeof changes)[number];

export type Change = { path: string; change: Kind; size: number };
export type Counts = Readonly<Record<Kind, number>>;

type CountWords = Readonly<Record<Kind, (n: number) => string>> & {
  nothing: string;
  all: (parts: string) => string;
};

export const totalOf = ({ added, changed, removed }: Counts): number => added + changed + removed;

/** The counts in one sentence, without what there is none of. */
export function changesSentence(counts: Counts, words: CountWords, language: Language): string {
  const parts = changes.filter((kind) => counts[kind] > 0).map((kind) => words[kind](counts[kind]));
  return parts.length === 0 ? words.nothing : words.all(new Intl.ListFormat(language).format(parts));
}

/** What is lost first, then by path. */
export function sortChanges<File extends Pick<Change, "change">>(files: readonly File[]): File[] {
  // The sort keeps the order of paths, in which they come.
  return [...files].sort((one, other) => changes.indexOf(one.change) - changes.indexOf(other.change));
}
