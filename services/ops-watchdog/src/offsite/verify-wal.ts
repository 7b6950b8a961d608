// Copies of the log, opened to their last byte (docs/reference/off-site.md#verification).

import { readArchive } from "../wal/folder.ts";
import type { Check, VerifyDeps } from "./verify-context.ts";
import { isRewritten, type WalPath, walOfKey } from "./wal-key.ts";
import { partsOfRun } from "./wal-local.ts";
import { openWalObject, sendWalObject } from "./wal-object.ts";
import { forgetRun } from "./wal-state.ts";

/** The newest base backup and what says how far the log is, and as many others as `choose` takes. */
export function checksOfWal(
  deps: VerifyDeps,
  keys: readonly string[],
  choose: ((from: readonly WalPath[]) => WalPath[]) | undefined,
): Check[] {
  const parts = keys.flatMap((key) => walOfKey(key) ?? []);
  const chosen = choose ? withNewest(parts, choose) : parts;
  return chosen.map((part) => ({
    key: keys.find((key) => walOfKey(key)?.path === part.path) ?? part.path,
    verify: async () => {
      for await (const _ of openWalObject(deps, part.path));
    },
    repair: () => repair(deps, part),
  }));
}

function withNewest(parts: readonly WalPath[], choose: (from: readonly WalPath[]) => WalPath[]): WalPath[] {
  const [newest] = parts.flatMap((part) => (part.kind === "base" ? [part] : [])).sort(byPathDown);
  const always = parts.filter((part) =>
    part.kind === "base" ? part.run === newest?.run && part.base === newest.base : isRewritten(part),
  );
  return [...always, ...choose(parts.filter((part) => !always.includes(part)))];
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
