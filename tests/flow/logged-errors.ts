// Error lines in the logs of a stack's processes.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const severe = new Set<unknown>(["error", "fatal"]);

/** Error lines of all logs below a stack's data that match none of `expected`, each with the name of its file. */
export function unexpectedErrors(dataDir: string, expected: readonly RegExp[]): string[] {
  const logs = join(dataDir, "logs");
  if (!existsSync(logs)) return [];
  return readdirSync(logs).flatMap((name) =>
    readFileSync(join(logs, name), "utf8")
      .split("\n")
      .filter((line) => isError(line) && !expected.some((pattern) => pattern.test(line)))
      .map((line) => `${name}: ${line}`),
  );
}

// NATS, PostgreSQL and game servers write text of their own; the services write JSON.
function isError(line: string): boolean {
  if (!line.startsWith("{")) return false;
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "object" && entry !== null && "level" in entry && severe.has(entry.level);
  } catch {
    // A process that was killed may leave half a line.
    return false;
  }
}
