// Which copies of the log are deleted: a part of the only rule (deletion.ts). It is pure.
//
// 1. Nothing goes while it is not known what is covered here, or while a part of the bucket that others depend on cannot be read.
// 2. What is here stays there.
// 3. The limit is the beginning of what is covered here, or of what is kept here where less is covered, less the time that copies
//    are kept longer. The newest usable base backup of the bucket that ended before it stays, and everything newer; without one
//    nothing goes. Of its run the log stays from its beginning on. A run goes whole once none of its base backups stay, unless it
//    is the newest: the rule of the folder, over the bucket.
// 4. The beginning of a segment goes once the segment is there.
// 5. What a killed pass left of a base backup goes once it is as old.

import { decideWalDeletions, type KeptRun } from "../wal/retention.ts";
import { keyOfWal, walOfKey } from "./wal-key.ts";

export type WalFacts = {
  /** Of the bucket. */
  runs: readonly KeptRun[];
  /** Where what is covered here begins. */
  coveredFrom: Date;
  /** Paths of the parts that are here. */
  local: ReadonlySet<string>;
  /** How long the log is kept here, and its copies beyond that. */
  localKeepMs: number;
  keepMs: number;
};

type Objects = readonly { key: string; modifiedAt: Date | undefined }[];

/** Before this time copies of the log may go. */
export const walLimit = (
  { coveredFrom, localKeepMs, keepMs }: Pick<WalFacts, "coveredFrom" | "localKeepMs" | "keepMs">,
  now: number,
) => Math.min(coveredFrom.getTime(), now - localKeepMs) - keepMs;

export function surplusWal(objects: Objects, wal: WalFacts | undefined, now: number): string[] {
  if (!wal) return [];
  const limit = walLimit(wal, now);
  const gone = decideWalDeletions({ runs: wal.runs, now: new Date(limit), keepMs: 0 });
  const goneBelow = new Set([...gone.runs, ...gone.bases.map(({ run, name }) => `${run}/${name}`)]);
  const segments = new Set(gone.segments.map(({ run, name }) => `${run}/wal/${name}`));
  const parts = objects.flatMap(({ key, modifiedAt }) => {
    const part = walOfKey(key);
    return part ? [{ part, isOld: modifiedAt !== undefined && modifiedAt.getTime() <= limit }] : [];
  });
  const paths = new Set(parts.map(({ part }) => part.path));
  return parts
    .filter(({ part, isOld }) => {
      const { path, run } = part;
      if (wal.local.has(path)) return false;
      if (goneBelow.has(run) || segments.has(path)) return true;
      if (part.kind === "open") return paths.has(path.replace(/\.partial$/, ""));
      if (part.kind !== "base") return false;
      return goneBelow.has(`${run}/${part.base}`) || (isOld && !paths.has(`${run}/${part.base}/base.json`));
    })
    .sort((a, b) => rankOf(a.part.path) - rankOf(b.part.path))
    .map(({ part }) => keyOfWal(part.path));
}

/** What names others is the last to go: what is half deleted is still known, and goes the next time. */
function rankOf(path: string): number {
  if (path.endsWith("/run.json")) return 2;
  return path.endsWith("/base.json") ? 1 : 0;
}
