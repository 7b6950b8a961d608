// Copies of the log, opened to their last byte (docs/reference/off-site.md#verification).

import { readArchive } from "../wal/folder.ts";
import type { Choice } from "./choose-copies.ts";
import type { Check, VerifyDeps } from "./verify-context.ts";
import { isRewritten, type WalPath, walOfKey } from "./wal-key.ts";
import { partsOfRun } from "./wal-local.ts";
import { openWalObject, sendWalObject } from "./wal-object.ts";
import { forgetRun } from "./wal-state.ts";

/** The newest base backup and what says how far the log is, and as many others as a sample has. */
export function checksOfWal(deps: VerifyDeps, keys: readonly string[], choice: Choice): Check[] {
  const parts = new Map(keys.flatMap((key) => pairOf(key)));
  const [newest] = [...parts.values()]
    .flatMap((part) => (part.kind === "base" ? [part] : []))
    .sort(byPathDown);
  const isAlways = (part: WalPath) =>
    part.kind === "base" ? part.run === newest?.run && part.base === newest.base : isRewritten(part);
  const chosen = choice.some([...parts.keys()], (key) => {
    const part = parts.get(key);
    return part !== undefined && isAlways(part);
  });
  return chosen.flatMap((key) => {
    const part = parts.get(key);
    return part ? [{ key, verify: () => readToEnd(deps, part), repair: () => repair(deps, part) }] : [];
  });
}

function pairOf(key: string): [key: string, part: WalPath][] {
  const part = walOfKey(key);
  return part ? [[key, part]] : [];
}

async function readToEnd(deps: VerifyDeps, { path }: WalPath): Promise<void> {
  for await (const _ of openWalObject(deps, path));
}

const byPathDown = (a: WalPath, b: WalPath) => (a.path < b.path ? 1 : -1);

/** True when a good copy is there again. What is written again as the log grows comes with the next pass. */
async function repair(deps: VerifyDeps, part: WalPath): Promise<boolean> {
  const { walDir, stateDir, mayRepair } = deps;
  if (!mayRepair || walDir === undefined) return false;
  if (isRewritten(part)) {
    await forgetRun(stateDir, part.run);
    return false;
  }
  const run = (await readArchive(walDir)).runs.find(({ name }) => name === part.run);
  const here = run && (await partsOfRun(run)).find(({ path }) => path === part.path);
  if (!here) return false;
  await sendWalObject(deps, { ...here, sha256: await here.digest() });
  return true;
}
