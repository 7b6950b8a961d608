// What an end was, by the log's last lines and the exit (docs/reference/crashes.md#causes). Pure; the lines are what a
// tenant's server says, so each is cut and read once for each pattern.

import type { crashes } from "@svc/proto";
import { causeTable, type Exit, faultPatterns } from "./causes.ts";

type Explained = { cause: crashes.CrashCause; detail?: string };

const maxLineChars = 1_000;
const maxDetailChars = 200;
/** Of `[12:00:00] [Server thread/INFO] [some.Class]: [Plugin] text`, the parts in brackets. */
const maxTags = 6;

export function explain(lines: readonly string[], exit: Exit): Explained {
  const texts = lines.map(textOf);
  for (const { cause, exit: fits, patterns } of causeTable) {
    if (fits && !fits(exit)) continue;
    if (!patterns) return { cause };
    const found = firstMatch(texts, patterns);
    if (found) return { cause, ...(found.detail && { detail: found.detail }) };
  }
  return { cause: "unknown" };
}

/**
 * Whether an end is worth a report: the exit code says so, no player could join yet, or the log speaks of a fault. A server
 * that was ended with its own `stop` has not crashed.
 */
export function isCrash(lines: readonly string[], about: Exit & { wasRunning: boolean }): boolean {
  if (about.code !== 0 || !about.wasRunning) return true;
  return firstMatch(lines.map(textOf), faultPatterns) !== undefined;
}

// The first pattern that matches counts: the ones with a detail stand first.
function firstMatch(
  texts: readonly string[],
  patterns: readonly RegExp[],
): { detail: string | undefined } | undefined {
  for (const pattern of patterns) {
    for (const text of texts) {
      const found = pattern.exec(text);
      if (found) return { detail: found.groups?.["detail"]?.slice(0, maxDetailChars) };
    }
  }
  return undefined;
}

/** A line without colours, time, thread, level and name of the plugin, and without what leads to a nested fault. */
export function textOf(line: string): string {
  let text = line
    .slice(0, maxLineChars)
    .replace(/§[0-9a-fk-orx]/gi, "")
    .trim();
  for (let tags = 0; tags < maxTags && text.startsWith("["); tags += 1) {
    const end = text.indexOf("]");
    if (end < 0) break;
    text = text.slice(end + 1).replace(/^:? {0,3}/, "");
  }
  return text.replace(/^(?:Caused by: |Exception in thread "[^"]{1,80}" )/, "");
}
