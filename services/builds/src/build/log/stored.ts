// The log of a build that has ended, as it is stored: one JSON object a line, gzip. Pure but for the compression.

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

/** A line of a step, or a named event between lines; `at` is unix seconds. */
export type LogEntry = { at: number; line: string; event?: string };

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export async function encodeLog(entries: readonly LogEntry[]): Promise<Buffer> {
  return compress(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
}

export async function decodeLog(gz: Buffer): Promise<LogEntry[]> {
  const text = (await decompress(gz)).toString("utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as LogEntry);
}

/** The newest lines within a limit of bytes; counts those that it dropped. */
export function createTail(maxBytes: number): {
  add: (entry: LogEntry) => void;
  result: () => { entries: LogEntry[]; dropped: number };
} {
  let entries: LogEntry[] = [];
  let [first, bytes, dropped] = [0, 0, 0];
  const sizeOf = ({ line }: LogEntry) => line.length + 24;
  return {
    add: (entry) => {
      entries.push(entry);
      bytes += sizeOf(entry);
      for (let oldest = entries[first]; bytes > maxBytes && oldest; oldest = entries[first]) {
        bytes -= sizeOf(oldest);
        first += 1;
        dropped += 1;
      }
      // Not for each line: that would copy a long log again and again.
      if (first > 10_000) {
        entries = entries.slice(first);
        first = 0;
      }
    },
    result: () => ({ entries: entries.slice(first), dropped }),
  };
}
