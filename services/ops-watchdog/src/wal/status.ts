// What the archive of the log covers, from its folder alone.

import type { databaseBackups } from "@svc/proto";
import { coverageOf, readArchive, sizeOf } from "./folder.ts";
import { formatLsn } from "./lsn.ts";

type WalStatus = {
  dir: string;
  /** Whether ops-watchdog archives the log, as the settings of this command say. */
  enabled: boolean;
  size_bytes: number;
  /** Stretches without a gap, oldest first. */
  runs: {
    name: string;
    reason: string;
    system: string;
    timeline: number;
    started_at: string;
    covered?: { from: string; until: string };
    received?: string;
    segments: number;
    bases: { name: string; ended_at: string; size_bytes: number }[];
  }[];
  problems: string[];
  /** Why the present is not covered; absent when it is. */
  stale?: string;
};

export async function readWalStatus(about: {
  dir: string;
  enabled: boolean;
  maxAgeMs: number;
  now: number;
}): Promise<WalStatus> {
  const { dir, enabled, maxAgeMs, now } = about;
  const { runs, problems } = await readArchive(dir);
  const newest = runs.at(-1);
  const covered = newest && coverageOf(newest);
  const stale = enabled ? staleness(covered?.until, { maxAgeMs, now }) : undefined;
  return {
    dir,
    enabled,
    size_bytes: await sizeOf(dir),
    runs: runs.map((run) => {
      const span = coverageOf(run);
      return {
        name: run.name,
        reason: run.about.reason,
        system: run.about.system,
        timeline: run.about.timeline,
        started_at: run.about.started_at,
        ...(span && { covered: { from: span.from.toISOString(), until: span.until.toISOString() } }),
        ...(run.received && { received: formatLsn(run.received.lsn) }),
        segments: run.segments.length,
        bases: run.bases.map(({ name, about: base }) => ({
          name,
          ended_at: base.ended_at,
          size_bytes: base.bytes,
        })),
      };
    }),
    problems,
    ...(stale !== undefined && { stale }),
  };
}

/** What the panel shows of the newest run. */
export async function readPointInTime(about: {
  dir: string;
  maxAgeMs: number;
  now: number;
}): Promise<NonNullable<databaseBackups.DatabaseBackupStatus["point_in_time"]>> {
  const { runs, problems } = await readArchive(about.dir);
  const newest = runs.at(-1);
  const covered = newest && coverageOf(newest);
  const base = newest?.bases.at(-1)?.endedAt;
  const stale = staleness(covered?.until, about) ?? problems[0];
  return {
    ...(covered && { covered_from: covered.from.toISOString(), covered_until: covered.until.toISOString() }),
    ...(base && { base_at: base.toISOString() }),
    ...(stale !== undefined && { stale }),
  };
}

export function staleness(
  until: Date | undefined,
  { maxAgeMs, now }: { maxAgeMs: number; now: number },
): string | undefined {
  if (until === undefined) return "the newest run has no base backup with the log to its end yet";
  if (now - until.getTime() <= maxAgeMs) return undefined;
  return `nothing was received since ${until.toISOString()}`;
}
