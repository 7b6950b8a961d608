// What ops-watchdog does by itself, on one replica at a time: the daily bundle, the weekly rehearsal, the weekly
// verification of each bundle and the daily update report.

import { startLoop } from "@svc/service/loop";
import { countDamaged, findLastRehearsed, findNewestDaily } from "../bundle/records.ts";
import { connect } from "../bundle/snapshot.ts";
import { recordFolder } from "../bundle/take.ts";
import { findPasses } from "../offsite/report.ts";
import { readWalCopies, toOffsiteStatus } from "../offsite/status.ts";
import { readVerification } from "../offsite/verification.ts";
import { newestReport } from "../update/report.ts";
import type { WatchdogMetrics } from "./metrics.ts";
import type { RunProgram } from "./run-program.ts";
import { type Task, type TaskDeps, tasksOf } from "./tasks.ts";

type LoopDeps = TaskDeps & { run: RunProgram; metrics: WatchdogMetrics };

/** Starts the loop; the first round comes after `first_tick`, so that a start is not slowed down. */
export function startTasks(deps: LoopDeps): { close: () => Promise<void> } {
  const { round, idle } = createRound(deps);
  const loop = startLoop(round, {
    firstMs: deps.settings.first_tick,
    everyMs: deps.settings.tick,
    onError: (error) => deps.log.warn({ error: error.message }, "periodic work failed; retrying"),
  });
  return {
    close: async () => {
      await loop.close();
      await idle();
    },
  };
}

/**
 * One round: what is due, one after the other, while this process holds the lock. What may take hours goes on after it;
 * `idle` waits for that.
 */
export function createRound(deps: LoopDeps): {
  round: (signal: AbortSignal) => Promise<void>;
  idle: () => Promise<void>;
} {
  const attempts = new Map<string, number>();
  const tasks = tasksOf(deps);
  deps.metrics.tasks(tasks.map(({ name }) => name));
  const running = new Map<string, Promise<void>>();
  const start = async (task: Task, signal: AbortSignal) => {
    if (running.has(task.name)) return;
    const work = runIfDue(deps, { task, attempts }, signal);
    if (!task.isLong) return work;
    const ended = work
      .catch((error: Error) => {
        if (!signal.aborted)
          deps.log.warn({ task: task.name, error: error.message }, "periodic task failed; retrying");
      })
      .finally(() => running.delete(task.name));
    running.set(task.name, ended);
  };
  const round = async (signal: AbortSignal) => {
    const client = await connect(deps.url, "svc-ops-watchdog-loop");
    try {
      const { rows } = await client.query<{ held: boolean }>(
        "select pg_try_advisory_lock(hashtext('ops_watchdog_loop')) as held",
      );
      if (rows[0]?.held) {
        await recordFolder(client, deps.settings.bundle_dir);
        for (const task of tasks) if (!signal.aborted) await start(task, signal);
      }
      await showFacts(deps);
    } finally {
      await client.end();
    }
  };
  return { round, idle: async () => void (await Promise.all(running.values())) };
}

async function runIfDue(
  { run, metrics, now, log }: LoopDeps,
  { task, attempts }: { task: Task; attempts: Map<string, number> },
  signal: AbortSignal,
): Promise<void> {
  const { name, findCommand, readAnswer, hasMore } = task;
  const command = await findCommand(attempts.get(name));
  if (!command) return;
  attempts.set(name, now());
  try {
    const answer = await run(command, signal);
    readAnswer?.(answer);
    if (hasMore) attempts.delete(name);
    log.info({ task: name }, "periodic task finished");
  } catch (error) {
    if (signal.aborted) return;
    metrics.failed(name);
    log.warn({ task: name, error: (error as Error).message }, "periodic task failed; retrying");
  }
}

async function showFacts({ db, metrics, offsite, settings, now }: LoopDeps): Promise<void> {
  // One after the other: at once they would keep four connections open for this alone.
  const daily = await findNewestDaily(db);
  metrics.dailyBundle(daily?.taken_at, daily?.size_bytes ?? 0);
  metrics.damagedBundles(await countDamaged(db));
  metrics.rehearsed(await findLastRehearsed(db));
  const report = await newestReport(db);
  metrics.report(report && new Date(report.checked_at));
  if (offsite.bucket === "") return;
  const [passes, verification] = await Promise.all([findPasses(db), readVerification(offsite.state_dir)]);
  const wal = settings.wal_archive ? await readWalCopies(offsite, now()) : undefined;
  metrics.offsite(toOffsiteStatus(offsite, { ...passes, verification, wal }, now()));
}
