// What the services said that is more than information, with how often: where it breaks first is written there.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const told = new Set<unknown>(["warn", "error", "fatal"]);

/** `service: text`, names of servers left out, the most frequent first. */
export function findProblems(dataDir: string): [string, number][] {
  const logs = join(dataDir, "logs");
  if (!existsSync(logs)) return [];
  const counts = new Map<string, number>();
  for (const file of readdirSync(logs).filter((name) => name.endsWith(".log"))) {
    for (const line of readFileSync(join(logs, file), "utf8").split("\n")) {
      const text = problemOf(line);
      if (text === undefined) continue;
      const key = `${file.replace(/\.log$/, "")}: ${text}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function problemOf(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const { level, msg, error, err } = JSON.parse(line) as Record<string, unknown>;
    if (!told.has(level)) return undefined;
    const cause = error ?? (err as { message?: unknown } | undefined)?.message;
    return [level, msg, cause]
      .filter((part) => part !== undefined)
      .map((part) => String(part).replaceAll(/bench-\d+/g, "NAME"))
      .join(", ")
      .slice(0, 240);
  } catch {
    return undefined;
  }
}
