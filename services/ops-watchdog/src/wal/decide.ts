// When a run goes on and when a base backup is due.

import { formatLsn } from "./lsn.ts";

type Newest = { system: string; timeline: number; end: bigint };

type RunDecision = { kind: "continue" } | { kind: "begin"; reason: string };

export function decideRun(
  newest: Newest | undefined,
  server: { system: string; timeline: number; position: bigint },
): RunDecision {
  const begin = (reason: string): RunDecision => ({ kind: "begin", reason });
  if (!newest) return begin("the first of this folder");
  if (newest.system !== server.system) return begin("another database server");
  if (newest.timeline !== server.timeline)
    return begin(
      `timeline ${server.timeline} after ${newest.timeline}: the server was recovered or promoted`,
    );
  if (server.position < newest.end)
    return begin(
      `the server is at ${formatLsn(server.position)}, before the ${formatLsn(newest.end)} of the archive: it was set back`,
    );
  return { kind: "continue" };
}

/** The first base of a run is due at once. */
export function isBaseDue(about: {
  now: number;
  everyMs: number;
  retryMs: number;
  lastBase: number | undefined;
  failedAt: number | undefined;
}): boolean {
  const { now, everyMs, retryMs, lastBase, failedAt } = about;
  if (failedAt !== undefined && failedAt <= now && now - failedAt < retryMs) return false;
  return lastBase === undefined || lastBase > now || now - lastBase >= everyMs;
}
