// `.dockerignore`: the last pattern that matches a path or a folder above it decides; `!` takes a path back in.

import { matchesPath } from "./glob.ts";

type Rule = { names: string[]; isException: boolean };

export type Ignore = { isIgnored: (path: string) => boolean; hasExceptions: boolean };

const mostRules = 1_000;

export function parseIgnore(text: string): Ignore {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  // To ignore some of it silently would copy what was to be left out.
  if (lines.length > mostRules) throw new Error(`.dockerignore has more than ${mostRules} lines`);
  const rules = lines
    .map((line): Rule => {
      const isException = line.trim().startsWith("!");
      const pattern = isException ? line.trim().slice(1) : line.trim();
      return { isException, names: pattern.split("/").filter((name) => name !== "" && name !== ".") };
    })
    .filter(({ names }) => names.length > 0);
  const isIgnored = (path: string) => {
    const names = path.split("/");
    let ignored = false;
    for (const rule of rules) {
      if (ignored !== rule.isException) continue;
      if (names.some((_, end) => matchesPath(rule.names, names.slice(0, end + 1))))
        ignored = !rule.isException;
    }
    return ignored;
  };
  return { isIgnored, hasExceptions: rules.some(({ isException }) => isException) };
}
