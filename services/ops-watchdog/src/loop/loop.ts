// What ops-watchdog does by itself, on one replica at a time: the daily bundle, the weekly rehearsal and the daily update report.

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@svc/telemetry";
import { z } from "zod";
import { findLastRehearsed, findNewestDaily } from "../bundle/records.ts";
import { connect } from "../bundle/snapshot.ts";
import { recordFolder } from "../bundle/take.ts";
import type { WatchdogSettings } from "../config.ts";
import type { WatchdogDb } from "../database.ts";
import type { Command } from "../host/command.ts";
import { newestReport } from "../update/report.ts";
import { isDailyDue, isIntervalDue } from "./due.ts";
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
  command: Command;
  isDue: (lastAttempt: number | undefined) => Promise<boolean>;
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
  { run, metrics, now, log }: LoopDeps,
  { task, attempts }: { task: Task; attempts: Map<string, number> },
  signal: AbortSignal,
): Promise<void> {
  const { name, command } = task;
  if (!(await task.isDue(attempts.get(name)))) return;
  attempts.set(name, now());
  try {
    const answer = await run(command, signal);
    const failure = Failure.safeParse(answer).data?.error;
    if (failure !== undefined) throw new Error(failure);
    log.info({ task: name }, "periodic task finished");
  } catch (error) {
    if (signal.aborted) return;
    metrics.failed(name);
    log.warn({ task: name, error: (error as Error).message }, "periodic task failed; retrying");
  }
}

function tasksOf({ db, settings, url, now }: LoopDeps): Task[] {
  const retryMs = settings.bundle_retry;
  const jitterMs = jitterOf(url, settings.bundle_jitter);
  return [
    {
      name: "daily-bundle",
      command: { do: "back-up", label: "daily" },
      isDue: async (lastAttempt) => {
        const lastSuccess = (await findNewestDaily(db))?.taken_at.getTime();
        return isDailyDue({
          now: now(),
          at: settings.bundle_at,
          jitterMs,
          retryMs,
          lastSuccess,
          lastAttempt,
        });
      },
    },
    {
      name: "rehearsal",
      command: { do: "rehearse" },
      isDue: async (lastAttempt) => {
        if (!(await findNewestDaily(db))) return false;
        const lastSuccess = (await findLastRehearsed(db))?.getTime();
        return isIntervalDue({
          now: now(),
          everyMs: settings.rehearsal_every,
          retryMs,
          lastSuccess,
          lastAttempt,
        });
      },
    },
    {
      name: "update-report",
      command: { do: "check-updates", record: true },
      isDue: async (lastAttempt) => {
        const report = await newestReport(db);
        const lastSuccess = report && Date.parse(report.checked_at);
        return isDailyDue({
          now: now(),
          at: settings.update_at,
          jitterMs: 0,
          retryMs,
          lastSuccess,
          lastAttempt,
        });
      },
    },
  ];
}

/** What a rehearsal answers when the bundle cannot be restored. */
const Failure = z.object({ error: z.string().optional() });

/** The same for all replicas of an installation, which have one database. */
function jitterOf(url: string, most: number): number {
  const { host, pathname } = new URL(url);
  const number = createHash("sha256").update(`${host}${pathname}`).digest().readUInt32BE(0);
  return Math.floor((number / 2 ** 32) * most);
}

async function showFacts({ db, metrics }: LoopDeps): Promise<void> {
  const [daily, report, rehearsed] = await Promise.all([
    findNewestDaily(db),
    newestReport(db),
    findLastRehearsed(db),
  ]);
  metrics.dailyBundle(daily?.taken_at, daily?.size_bytes ?? 0);
  metrics.rehearsed(rehearsed);
  metrics.report(report && new Date(report.checked_at));
}
