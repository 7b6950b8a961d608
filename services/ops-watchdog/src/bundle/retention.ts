// The only rule by which bundles are deleted (docs/reference/database-backups.md#retention). It is pure; one caller acts on it.
//
// 1. Nothing is deleted unless the bundle that was just taken has been read back.
// 2. Only whole bundles count: a damaged one, or one without its sidecar, never pushes a whole one out.
// 3. Of each label the newest N whole bundles stay; manual ones all stay.
// 4. A bundle that is not whole stays until N newer whole ones of its label exist.
// 5. The newest whole bundle of each label stays, and so does everything from the future and everything in use.

import type { databaseBackups } from "@svc/proto";

export type Candidate = {
  name: string;
  label: databaseBackups.BundleLabel;
  takenAt: Date;
  /** The file has the size of its manifest and a sidecar, and no verification found it damaged. */
  isWhole: boolean;
};

export type Keep = Readonly<Record<databaseBackups.BundleLabel, number>>;

type Observed = {
  bundles: readonly Candidate[];
  keep: Keep;
  now: Date;
  /** Name of the bundle that was just taken and read back. */
  justVerified: string | undefined;
  /** Bundles that a restore or a rehearsal reads. */
  inUse: readonly string[];
};

/** Names of the bundles to delete, oldest first. */
export function decideDeletions(observed: Observed): string[] {
  const { bundles, keep, now, justVerified, inUse } = observed;
  if (!bundles.some(({ name, isWhole }) => name === justVerified && isWhole)) return [];
  const past = bundles.filter(({ takenAt }) => takenAt.getTime() <= now.getTime());
  const newestFirst = [...past].sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime());
  const counts = new Map<databaseBackups.BundleLabel, number>();
  const surplus: Candidate[] = [];
  for (const bundle of newestFirst) {
    const kept = counts.get(bundle.label) ?? 0;
    const isSurplus = kept >= keep[bundle.label];
    const isSafe = (bundle.isWhole && kept === 0) || bundle.name === justVerified;
    if (isSurplus && !isSafe && !inUse.includes(bundle.name)) surplus.push(bundle);
    else if (bundle.isWhole) counts.set(bundle.label, kept + 1);
  }
  return surplus.reverse().map(({ name }) => name);
}
