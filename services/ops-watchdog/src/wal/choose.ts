// From what a point in time is recovered.

import { type Base, coverageOf, isUsable, type Run } from "./folder.ts";
import { parseLsn } from "./lsn.ts";

export type Choice = {
  run: Run;
  /** The newest that ended before the time comes first; an older one is used when it is damaged. */
  bases: Base[];
  /** Where the log that is needed ends. */
  until: bigint;
};

/** The clock may have stood still between a commit and the begin of a base backup. */
const slackMs = 5_000;

/** Undefined outside of what is covered. A later run wins: where two cover a time, the clock was set back. */
export function chooseRecovery(runs: readonly Run[], at: Date): Choice | undefined {
  const time = at.getTime();
  for (const run of [...runs].reverse()) {
    const covered = coverageOf(run);
    if (!run.received || !covered || at < covered.from || at > covered.until) continue;
    const bases = run.bases.filter((base) => isUsable(run, base) && base.endedAt.getTime() <= time).reverse();
    const later = run.bases.find(
      (base) => isUsable(run, base) && Date.parse(base.about.started_at) > time + slackMs,
    );
    return { run, bases, until: later ? parseLsn(later.about.stop) : run.received.lsn };
  }
  return undefined;
}

/** What is covered, in words. */
export function coverageText(runs: readonly Run[]): string {
  const parts = runs.flatMap((run) => {
    const covered = coverageOf(run);
    return covered ? [`from ${covered.from.toISOString()} until ${covered.until.toISOString()}`] : [];
  });
  return parts.length > 0 ? `covered is ${parts.join(", and ")}` : "nothing is covered yet";
}
