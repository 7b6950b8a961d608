// The file of the state, and its copy in memory while the disk cannot be written (docs/reference/alerts.md#state).

import { lstat, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { takeLock } from "./lock.ts";
import { emptyState, WatchdogState } from "./state.ts";

const name = "state.json";
const unreadable = /^state\.json\.unreadable-(\d{1,12})$/;
const lockWithinMs = 8_000;
const keptUnreadable = 5;

/** Nothing can be remembered, and why. */
export class StateUnsavableError extends Error {
  override name = "StateUnsavableError";
}

export type StateFile = {
  /** The newest state that can be read; an empty one at first. */
  read: () => Promise<WatchdogState>;
  /**
   * Changes the state under the lock. `change` returns undefined to leave it. Answers the new state and, when it could only
   * be written to the copy, why. Throws `StateUnsavableError` when both fail.
   */
  update: (
    change: (state: WatchdogState) => WatchdogState | undefined,
  ) => Promise<{ state: WatchdogState; problem?: string }>;
  /** Why the folder cannot be written now; undefined when it can. */
  check: () => Promise<string | undefined>;
  /** Unix milliseconds at which the files that could not be parsed were put aside, oldest first. */
  listUnreadable: () => Promise<number[]>;
};

type Options = {
  dir: string;
  /** A folder in memory. */
  copyDir: string;
  now: () => number;
  /** Writes a whole new file; tests make it fail. */
  writeFile?: (path: string, text: string) => Promise<void>;
};

export function openStateFile({ dir, copyDir, now, writeFile = writeSynced }: Options): StateFile {
  const readNewest = async (): Promise<WatchdogState> => {
    const [main, copy] = await Promise.all([
      readOne(dir, now),
      isPrivate(copyDir).then((mine) => (mine ? readOne(copyDir, now) : undefined)),
    ]);
    if (main && copy) return copy.revision > main.revision ? copy : main;
    return main ?? copy ?? emptyState();
  };
  const write = async (state: WatchdogState): Promise<string | undefined> => {
    const text = JSON.stringify(state);
    const problem = await attempt(() => replace(dir, text, writeFile));
    if (problem === undefined) {
      await rm(join(copyDir, name), { force: true }).catch(() => undefined);
      return undefined;
    }
    const copyProblem = await attempt(async () => {
      await mkdir(copyDir, { recursive: true, mode: 0o700 });
      if (!(await isPrivate(copyDir))) throw new Error(`${copyDir} belongs to somebody else`);
      await replace(copyDir, text, writeFile);
    });
    if (copyProblem !== undefined) throw new StateUnsavableError(`${problem}; ${copyProblem}`);
    return problem;
  };
  return {
    read: readNewest,
    update: async (change) => {
      const release = await takeLock(dir, "state", lockWithinMs);
      if (!release) throw new StateUnsavableError("another process has held the state for too long");
      try {
        const before = await readNewest();
        const changed = change(before);
        if (changed === undefined) return { state: before };
        const state = { ...changed, revision: before.revision + 1 };
        const problem = await write(state);
        return { state, ...(problem !== undefined && { problem }) };
      } finally {
        await release();
      }
    },
    check: () =>
      attempt(async () => {
        const path = join(dir, `.${name}.${process.pid}.check`);
        await mkdir(dir, { recursive: true, mode: 0o700 });
        try {
          await writeFile(path, JSON.stringify(await readNewest()));
        } finally {
          await rm(path, { force: true }).catch(() => undefined);
        }
      }),
    listUnreadable: () => listUnreadable(dir),
  };
}

async function attempt(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A torn or damaged file is put aside; one that cannot be read at all counts as none. */
async function readOne(dir: string, now: () => number): Promise<WatchdogState | undefined> {
  const path = join(dir, name);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return WatchdogState.parse(JSON.parse(text));
  } catch {
    await rename(path, `${path}.unreadable-${Math.floor(now() / 1_000)}`).catch(() => undefined);
    const old = (await listUnreadable(dir)).slice(0, -keptUnreadable);
    for (const at of old)
      await rm(`${path}.unreadable-${at / 1_000}`, { force: true }).catch(() => undefined);
    return undefined;
  }
}

async function listUnreadable(dir: string): Promise<number[]> {
  const names: string[] = await readdir(dir).catch(() => []);
  return names
    .flatMap((one) => {
      const [, seconds] = unreadable.exec(one) ?? [];
      return seconds === undefined ? [] : [Number(seconds) * 1_000];
    })
    .sort((a, b) => a - b);
}

async function replace(dir: string, text: string, writeFile: Options["writeFile"]): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const partial = join(dir, `.${name}.${process.pid}.partial`);
  try {
    await (writeFile ?? writeSynced)(partial, text);
    await rename(partial, join(dir, name));
  } finally {
    await rm(partial, { force: true }).catch(() => undefined);
  }
}

/** On the disk when it resolves; only this user reads it. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Memory is shared with others: what they could have put there is not read. */
export async function isPrivate(dir: string): Promise<boolean> {
  const about = await lstat(dir).catch(() => undefined);
  return about?.isDirectory() === true && about.uid === process.getuid?.() && (about.mode & 0o077) === 0;
}
