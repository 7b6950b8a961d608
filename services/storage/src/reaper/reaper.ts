// Daily runs on this replica: one at a time over all replicas, by its row. A run whose process died is declared dead by the
// next tick of any replica, and retried a few times (backoffLimit 2).

import { setTimeout as delay } from "node:timers/promises";
import type { RunRow } from "../database/reaper-runs.ts";
import type { StorageDeps } from "../deps.ts";
import { openArchiveFolder } from "../volume/archive-folder.ts";
import { runOnce } from "./daily-run.ts";
import { warnBeforeMs } from "./decide.ts";
import type { ReaperMetrics } from "./metrics.ts";
import { isSpaceLow } from "./retention.ts";
import { addNote, newRun, type Run } from "./run.ts";
import {
  deleteOldRuns,
  diedMessage,
  failSilentRuns,
  findLastSuccess,
  findNewestRun,
  finishRun,
  insertRun,
  recordHeartbeat,
} from "./run-store.ts";
import { isGood, summaryLine } from "./summary.ts";

export type Reaper = {
  /** Starts a run on this replica, or returns the one in progress on any. */
  start: (about: { startedBy: string; retentionOnly: boolean }) => Promise<RunRow>;
  /** Starts a run when one is due, or when space is low and expired archives can be deleted; returns its row. */
  tick: () => Promise<RunRow | undefined>;
  /** Resolves when no run of this replica is in progress. */
  idle: () => Promise<void>;
  /** Aborts runs of this replica; worlds stay safe and the next run continues. */
  close: () => Promise<void>;
};

export type ReaperDeps = StorageDeps & { reaperMetrics: ReaperMetrics };

export function createReaper(deps: ReaperDeps): Reaper {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const { storage } = deps.settings;

  const begin = async (about: { startedBy: string; retentionOnly: boolean; attempt: number }) => {
    const now = new Date(deps.now());
    await failSilentRuns(deps.db, { silentSince: new Date(deps.now() - storage.reaper_silence), now });
    // Without an agent nothing can be archived, so no world is touched (docs/reference/reaper.md#retention).
    const retentionOnly = about.retentionOnly || storage.agent_image === "";
    const row = await insertRun(deps.db, { ...about, retentionOnly, now });
    if (!row) return undefined;
    const done = executeRun(deps, row, stopping.signal).finally(() => running.delete(done));
    running.add(done);
    return row;
  };
  const start: Reaper["start"] = async (about) => {
    for (;;) {
      const row = (await begin({ ...about, attempt: 1 })) ?? (await findNewestRun(deps.db));
      if (row) return row;
    }
  };
  const tick: Reaper["tick"] = async () => {
    const last = await findLastSuccess(deps.db);
    if (last) deps.reaperMetrics.lastSuccess(last);
    if (storage.reaper_every === 0 || stopping.signal.aborted) return undefined;
    const now = new Date(deps.now());
    await failSilentRuns(deps.db, { silentSince: new Date(deps.now() - storage.reaper_silence), now });
    const newest = await findNewestRun(deps.db);
    // Where no world can be archived every run is for retention only.
    const isFull = storage.agent_image !== "";
    const attempt = findDueAttempt(isFull ? await findNewestRun(deps.db, { isFull }) : newest, deps);
    if (attempt !== undefined) {
      await deleteOldRuns(deps.db, new Date(deps.now() - storage.job_history));
      return begin({ startedBy: "storage", retentionOnly: false, attempt });
    }
    if (newest && newest.started_at.getTime() + storage.reaper_short_every > deps.now()) return undefined;
    return (await isSpaceLow(deps))
      ? begin({ startedBy: "storage", retentionOnly: true, attempt: 1 })
      : undefined;
  };
  const idle = async () => {
    await Promise.all(running);
  };
  return {
    start,
    tick,
    idle,
    close: async () => {
      stopping.abort(new Error("the process stops"));
      await idle();
    },
  };
}

/** Number of the attempt that is due now; undefined when none is. Pure. */
export function findDueAttempt(
  newest: Pick<RunRow, "state" | "message" | "attempt" | "started_at"> | undefined,
  { settings, now }: Pick<ReaperDeps, "settings" | "now">,
): number | undefined {
  const { reaper_every, reaper_attempts } = settings.storage;
  if (!newest || newest.started_at.getTime() + reaper_every <= now()) return 1;
  const hasDied = newest.state === "failed" && newest.message === diedMessage;
  return hasDied && newest.attempt < reaper_attempts ? newest.attempt + 1 : undefined;
}

async function executeRun(deps: ReaperDeps, row: RunRow, stopped: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  const dead = new AbortController();
  const run = newRun({
    id: row.id,
    deps,
    folder: openArchiveFolder(deps.settings.archive.local_path),
    metrics: deps.reaperMetrics,
    warnBefore: warnBeforeMs(deps.settings.archive.warn_before),
    signal: AbortSignal.any([stopped, dead.signal]),
  });
  const over = new AbortController();
  const beating = sendHeartbeats(run, dead, over.signal);
  const message = await runOnce(run, { retentionOnly: row.retention_only }).then(
    () => "",
    (error: Error) => error.message,
  );
  over.abort();
  await beating;
  // A run that stops with its process is left to be declared dead, so that it is retried.
  if (stopped.aborted && message !== "") return;
  const isFine = message === "" && isGood(run.summary, run.isSweepComplete);
  const state = isFine ? "succeeded" : "failed";
  const end = { state, message, summary: run.summary, notes: run.notes, now: new Date(deps.now()) } as const;
  deps.log[isFine ? "info" : "error"](
    { run: run.id, ...(message && { error: message }) },
    summaryLine(run.summary),
  );
  deps.reaperMetrics.ended(state, (performance.now() - startedAt) / 1_000);
  await finishRun(deps.db, row.id, end).catch((error: Error) =>
    addNote(run, `the result was not recorded: ${error.message}`),
  );
}

async function sendHeartbeats(run: Run, dead: AbortController, over: AbortSignal): Promise<void> {
  const { db, now, settings } = run.deps;
  const { reaper_heartbeat, reaper_silence } = settings.storage;
  let heardAt = performance.now();
  while (!over.aborted) {
    await delay(reaper_heartbeat, undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const { summary, notes } = run;
    const isAlive = await recordHeartbeat(db, run.id, { summary, notes, now: new Date(now()) }).catch(
      () => undefined,
    );
    if (isAlive) heardAt = performance.now();
    // Before another replica may declare this run dead and start another.
    const isLate = performance.now() - heardAt > reaper_silence / 2;
    if (isAlive === false || isLate)
      dead.abort(new Error("the run was aborted: it could not record its heartbeat"));
  }
}
