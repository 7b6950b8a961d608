// The only rule by which the archive is deleted (docs/reference/database-backups.md#point-in-time). It is pure; one caller acts on it.
//
// 1. The newest usable base backup that ended before now - keep stays, and everything newer; without one nothing goes.
// 2. Of the run of a base that stays, the log stays from its beginning on.
// 3. A run goes whole once none of its bases stay, unless it is the newest. Nothing dated in the future goes.

import { segmentStart } from "./lsn.ts";

export type KeptRun = {
  name: string;
  startedAt: Date;
  /** Beginnings of its whole segments. */
  segments: readonly { name: string; start: bigint }[];
  bases: readonly { name: string; endedAt: Date; start: bigint; isUsable: boolean }[];
};

type Deletions = {
  runs: string[];
  bases: { run: string; name: string }[];
  segments: { run: string; name: string }[];
};

export function decideWalDeletions(about: {
  runs: readonly KeptRun[];
  now: Date;
  keepMs: number;
}): Deletions {
  const { runs, now, keepMs } = about;
  const gone: Deletions = { runs: [], bases: [], segments: [] };
  const limit = now.getTime() - keepMs;
  const ends = runs.flatMap(({ bases }) =>
    bases.filter(({ isUsable }) => isUsable).map(({ endedAt }) => endedAt.getTime()),
  );
  const cutoff = Math.max(...ends.filter((at) => at <= limit));
  if (!Number.isFinite(cutoff)) return gone;
  const newest = runs.reduce<KeptRun | undefined>(
    (best, run) => (best === undefined || run.startedAt >= best.startedAt ? run : best),
    undefined,
  );
  for (const run of runs) {
    const kept = run.bases.filter(({ endedAt }) => endedAt.getTime() >= cutoff);
    const isOld = kept.length === 0 && run.startedAt.getTime() < cutoff;
    if (isOld && run !== newest) {
      gone.runs.push(run.name);
      continue;
    }
    if (kept.length === 0) continue;
    const [first = 0n] = kept.map(({ start }) => start).sort((a, b) => (a < b ? -1 : 1));
    for (const base of run.bases)
      if (!kept.includes(base)) gone.bases.push({ run: run.name, name: base.name });
    for (const segment of run.segments)
      if (segment.start < segmentStart(first)) gone.segments.push({ run: run.name, name: segment.name });
  }
  return gone;
}
