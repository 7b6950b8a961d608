// Entries that an archive does not hold: counted, the first ones by name.

import type { SkipReason } from "./walk.ts";

const mostNamed = 20;
const longestName = 240;

const words: Record<SkipReason, string> = {
  special: "neither file nor folder",
  too_long: "its path is too long",
  unreadable: "it cannot be read",
  holes: "it is nearly all holes, which can't be kept here",
};

export type Skipped = {
  /** A folder that was not entered counts as one. */
  skipped: number;
  /** Of these, files that exist but could not be read; a later backup may include them. */
  unreadable: number;
  /** The first of them, each with its reason, of bounded length. */
  skippedNames: string[];
};

export function noneSkipped(): Skipped {
  return { skipped: 0, unreadable: 0, skippedNames: [] };
}

export function countSkipped(all: Skipped, { path, reason }: { path: string; reason: SkipReason }): void {
  all.skipped += 1;
  if (reason === "unreadable" || reason === "holes") all.unreadable += 1;
  if (all.skippedNames.length < mostNamed) all.skippedNames.push(`${shortened(path)} (${words[reason]})`);
}

/** Shortens a long path to its two ends. */
function shortened(path: string): string {
  const text = path.toWellFormed();
  return text.length <= longestName ? text : `${text.slice(0, 80)} ... ${text.slice(-(longestName - 85))}`;
}
