import { mkdirSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findText, writeFileAtomic } from "../atomic-file.ts";
import { endMarked } from "../process/find-marked.ts";
import { endProcess, isAlive, type ProcessRef, parseProcessRef } from "../process/identity.ts";

/** A child as recorded on disk, for the next run after a kill. */
type Registered = { name: string; ref: ProcessRef; rank: number; stopSignal: NodeJS.Signals };

export type Registry = {
  /** Records a child synchronously; `rank` grows along the start order. */
  add: (entry: Registered) => void;
  remove: (name: string) => void;
  /** Children of an earlier run that are still alive. */
  living: () => Registered[];
  /**
   * Variables that every child must have: one that was started, but not recorded yet when the supervisor was killed, is
   * found by them.
   */
  mark: Readonly<Record<string, string>>;
  /** Stops them, the highest rank first, and children that were not recorded. Returns the names of those that were found. */
  clear: () => Promise<string[]>;
};

const politeMs = 10_000;

function parse(text: string | undefined): Registered | undefined {
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    const ref = parseProcessRef(value["ref"]);
    const { name, rank, stopSignal } = value;
    if (!ref || typeof name !== "string" || typeof rank !== "number") return undefined;
    return { name, ref, rank, stopSignal: stopSignal === "SIGINT" ? "SIGINT" : "SIGTERM" };
  } catch {
    return undefined;
  }
}

async function endAll(entries: readonly Registered[]): Promise<void> {
  await Promise.all(
    entries.map((entry) =>
      endProcess(entry.ref, [
        { signal: entry.stopSignal, waitMs: politeMs },
        { signal: "SIGKILL", waitMs: 2_000, group: true },
      ]),
    ),
  );
}

/** Pid files in `dir`, one per child, each with the identity of the process, in case the pid is reused. */
export function openRegistry(dir: string): Registry {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = (name: string) => join(dir, `${name}.json`);
  const mark = { SVC_STACK_RUN: realpathSync(dir) };
  const living = () =>
    readdirSync(dir)
      .filter((file) => file.endsWith(".json"))
      .map((file) => parse(findText(join(dir, file))))
      .filter((entry) => entry !== undefined)
      .filter((entry) => isAlive(entry.ref));
  return {
    add: (entry) => writeFileAtomic(path(entry.name), JSON.stringify(entry)),
    remove: (name) => rmSync(path(name), { force: true }),
    living,
    mark,
    clear: async () => {
      const found = living();
      const ranks = [...new Set(found.map((entry) => entry.rank))].sort((a, b) => b - a);
      for (const rank of ranks) await endAll(found.filter((entry) => entry.rank === rank));
      for (const file of readdirSync(dir)) rmSync(join(dir, file), { force: true });
      const unrecorded = await endMarked(`SVC_STACK_RUN=${mark.SVC_STACK_RUN}`, politeMs);
      return [...found.map((entry) => entry.name), ...(unrecorded > 0 ? ["others"] : [])];
    },
  };
}
