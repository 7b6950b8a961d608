import { readFileSync } from "node:fs";

/** The secrets that a proxy may sign with: one for ever, or those of the moment while one is being replaced. */
export type ForwardingSecrets = string | (() => readonly string[]);

/** All of them now; an empty list believes nobody. */
export function secretsOf(secrets: ForwardingSecrets): readonly string[] {
  return typeof secrets === "string" ? [secrets] : secrets();
}

const rereadMs = 1_000;

/**
 * The secrets of a file, one a line, read again when a second has passed. A file that is gone or empty just now leaves
 * those that were known; where none ever were, nobody is believed.
 */
export function secretFile(path: string, now: () => number = Date.now): () => readonly string[] {
  let known: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - readAt < rereadMs) return known;
    readAt = now();
    const found = linesOf(path);
    if (found.length > 0) known = found;
    return known;
  };
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split(/\r?\n/)
      .flatMap((line) => line.trim() || []);
  } catch {
    return [];
  }
}
