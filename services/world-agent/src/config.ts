// What a world Job is told from outside: its task by the environment, its folders by arguments, and what nobody else may
// know by files.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { StagedParts, Task } from "@svc/proto/world-task";

/** Limits of the agent, with the defaults of docs/reference/exports.md#ticket, docs/reference/files.md#operations. */
export const limits = {
  /** How long either end of a transfer may stall. */
  stallMs: 120_000,
  /** An archive that was sent is read back before it is answered. */
  keptMs: 600_000,
  /** Entries that one listing shows. */
  listEntries: 5_000,
  /** What is named of the files that differ between two archives, or that a restore would change. */
  changes: { files: 1_000, bytes: 512 << 10 },
  /** What the plan of a restore reads of files that may be the same (docs/reference/restore.md#plan). */
  planReading: { bytes: 1 << 30, timeMs: 30_000 },
  /** Files of one set of a safe start; the contract of storage has the same number. */
  asideFiles: 500,
  /** Bytes that one read gives. */
  readBytes: 1 << 20,
  /** What ends a search early (docs/reference/files.md#search). */
  search: {
    matches: 200,
    matchBytes: 512 << 10,
    entries: 200_000,
    bytes: 256 << 20,
    fileBytes: 4 << 20,
    lines: 5,
    timeMs: 45_000,
  },
  /** What a zip may hold that is made in the world, and how much of what is left out is named. */
  archive: { entries: 20_000, bytes: 1 << 30, leftOut: 20 },
  /** Plugins and mods that are listed of each world; the contract has the same number. */
  plugins: 300,
  /** Bytes of a text that is kept when it is replaced. */
  previousBytes: 256 << 10,
  /** Between two lines of progress. */
  progressEveryMs: 1_000,
} as const;

export type Settings = {
  task: Task;
  token: string;
  /** What a `write` writes. */
  content: () => Buffer;
  /** The parts of an `upload`. */
  parts: () => StagedParts;
  world: string | undefined;
  archive: string | undefined;
  tmp: string;
  /** W3C `traceparent` of whoever made the Job. */
  traceparent?: string | undefined;
};

/** Throws when the Job was made wrongly; that is never the caller's fault. */
export function readSettings(args: string[], env: NodeJS.ProcessEnv): Settings {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args, options: { world: text, archive: text, secret: text, tmp: text } });
  const task = env["SVC_TASK"];
  if (!task) throw new Error("SVC_TASK is missing");
  return {
    task: Task.parse(JSON.parse(task)),
    token:
      values.secret === undefined ? "" : (readSecret(values.secret, "token")?.toString("utf8").trim() ?? ""),
    content: () => needSecret(values.secret, "content"),
    parts: () => StagedParts.parse(JSON.parse(needSecret(values.secret, "parts").toString("utf8"))),
    world: values.world,
    archive: values.archive,
    tmp: values.tmp ?? "/tmp",
    traceparent: env["TRACEPARENT"] || undefined,
  };
}

function readSecret(folder: string, name: string): Buffer | undefined {
  try {
    return readFileSync(join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function needSecret(folder: string | undefined, name: "content" | "parts"): Buffer {
  const found = folder === undefined ? undefined : readSecret(folder, name);
  if (!found) throw new Error(`the file ${name} of the Job's secret is missing`);
  return found;
}
