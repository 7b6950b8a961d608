// What ops-watchdog does by itself, on one replica at a time: the daily bundle and the daily update report.

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@svc/telemetry";
import { findNewestDaily } from "../bundle/records.ts";
import { connect } from "../bundle/snapshot.ts";
import { recordFolder } from "../bundle/take.ts";
import type { WatchdogSettings } from "../config.ts";
import type { WatchdogDb } from "../database.ts";
import type { Command } from "../host/command.ts";
import { newestReport } from "../update/report.ts";
import { isDailyDue } from "./due.ts";
import type { WatchdogMetrics } from "./metrics.ts";
import type { RunProgram } from "./run-program.ts";

export type LoopDeps = {
  db: WatchdogDb;
  url: string;
  settings: WatchdogSettings;
  run: RunProgram;
  metrics: WatchdogMetrics;
  now: () => number;
  log: Logger;
};

type Task = {
  name: string;
  at: string;
  jitterMs: number;
  command: Command;
  lastSuccess: () => Promise<number | undefined>;
};

/** Starts the loop; the first round comes after `first_tick`, so that a start is not slowed down. */
export function startLoop(deps: LoopDeps): { close: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const round = createRound(deps);
  const running = (async () => {
    await delay(deps.settings.first_tick, undefined, { signal, ref: false });
    while (!signal.aborted) {
      await round(signal).catch((error: Error) => {
        if (!signal.aborted) deps.log.warn({ error: error.message }, "periodic work failed; retrying");
      });
      await delay(deps.settings.tick, undefined, { signal, ref: false });
    }
  })().catch(() => undefined);
  return {
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** One round: what is due, one after the other, while this process holds the lock. */
export function createRound(deps: LoopDeps): (signal: AbortSignal) => Promise<void> {
  const attempts = new Map<string, number>();
  const tasks = tasksOf(deps);
  return async (signal) => {
    const client = await connect(deps.url, "svc-ops-watchdog-loop");
    try {
      const { rows } = await client.query<{ held: boolean }>(
        "select pg_try_advisory_lock(hashtext('ops_watchdog_loop')) as held",
      );
      if (rows[0]?.held) {
        await recordFolder(client, deps.settings.bundle_dir);
        for (const task of tasks) if (!signal.aborted) await runIfDue(deps, { task, attempts }, signal);
      }
      await showFacts(deps);
    } finally {
      await client.end();
    }
  };
}

async function runIfDue(
  { run, settings, metrics, now, log }: LoopDeps,
  { task, attempts }: { task: Task; attempts: Map<string, number> },
  signal: AbortSignal,
): Promise<void> {
  const { name, at, jitterMs, command } = task;
  const lastSuccess = await task.lastSuccess();
  const lastAttempt = attempts.get(name);
  if (!isDailyDue({ now: now(), at, jitterMs, retryMs: settings.bundle_retry, lastSuccess, lastAttempt }))
    return;
  attempts.set(name, now());
  try {
    await run(command, signal);
    log.info({ task: name }, "periodic task finished");
  } catch (error) {
    if (signal.aborted) return;
    metrics.failed(name);
    log.warn({ task: name, error: (error as Error).message }, "periodic task failed; retrying");
  }
}

function tasksOf({ db, settings, url }: LoopDeps): Task[] {
  return [
    {
      name: "daily-bundle",
      at: settings.bundle_at,
      jitterMs: jitterOf(url, settings.bundle_jitter),
      command: { do: "back-up", label: "daily" },
      lastSuccess: async () => (await findNewestDaily(db))?.taken_at.getTime(),
    },
    {
      name: "update-report",
      at: settings.update_at,
      jitterMs: 0,
      command: { do: "check-updates", record: true },
      lastSuccess: async () => {
        const report = await newestReport(db);
        return report && Date.parse(report.checked_at);
      },
    },
  ];
}

/** The same for all replicas of an installation, which have one database. */
function jitterOf(url: string, most: number): number {
  const { host, pathname } = new URL(url);
  const number = createHash("sha256").update(`${host}${pathname}`).digest().readUInt32BE(0);
  return Math.floor((number / 2 ** 32) * most);
}

async function showFacts({ db, metrics }: LoopDeps): Promise<void> {
  const [daily, report] = await Promise.all([findNewestDaily(db), newestReport(db)]);
  metrics.dailyBundle(daily?.taken_at, daily?.size_bytes ?? 0);
  metrics.report(report && new Date(report.checked_at));
}
