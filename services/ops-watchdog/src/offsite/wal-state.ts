// How far the log is in the bucket; a file, so that it is known without a database.

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const WalState = z.strictObject({
  /** When it was last looked at. */
  at: z.iso.datetime(),
  /** What the copies of a run cover, as `received.json` of the bucket says, by its name. */
  runs: z.record(z.string(), z.strictObject({ from: z.iso.datetime(), until: z.iso.datetime() })),
});
export type WalState = z.output<typeof WalState>;

const fileIn = (stateDir: string) => join(stateDir, "wal.json");

/** Undefined when there is none, or none that can be read: then everything small is sent again. */
export async function readWalState(stateDir: string): Promise<WalState | undefined> {
  try {
    return WalState.parse(JSON.parse(await readFile(fileIn(stateDir), "utf8")));
  } catch {
    return undefined;
  }
}

export async function writeWalState(stateDir: string, state: WalState): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const partial = `${fileIn(stateDir)}.partial`;
  await writeFile(partial, JSON.stringify(state), { mode: 0o600, flush: true });
  await rename(partial, fileIn(stateDir));
}

/** What the next pass sends again. */
export async function forgetRun(stateDir: string, name: string): Promise<void> {
  const state = await readWalState(stateDir);
  if (!state) return;
  const { [name]: _, ...runs } = state.runs;
  await writeWalState(stateDir, { ...state, runs });
}

/** What the newest run covers. */
export function newestCovered(state: WalState | undefined): { from: string; until: string } | undefined {
  const newest = Object.keys(state?.runs ?? {})
    .sort()
    .at(-1);
  return newest === undefined ? undefined : state?.runs[newest];
}
