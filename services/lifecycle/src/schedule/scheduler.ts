// When tasks run: at every tick on the replica that leads, and at once on any replica when started by hand.

import { setTimeout as delay } from "node:timers/promises";
import { startLease } from "@svc/kube";
import { repeat } from "@svc/service/loop";
import { createSemaphore } from "@svc/service/semaphore";
import { timed } from "@svc/telemetry";
import type { ScheduleDeps } from "./deps.ts";
import { reconcileTask, startRun } from "./run.ts";
import type { FoundTask } from "./store.ts";
import { reconcileTrigger } from "./trigger-run.ts";
import { watchTriggers } from "./watch.ts";

export type Scheduler = {
  /** One pass over every task that has work now; resolves when they are done. */
  tick: (signal?: AbortSignal) => Promise<void>;
  /** Starts a run that was claimed by hand; resolves when it waits or has ended, or when that takes too long. */
  start: (found: FoundTask) => Promise<void>;
  /** Resolves when no pass is under way. */
  idle: () => Promise<void>;
};

/** The tasks beyond this number wait for the next tick. */
const maxTasksPerTick = 2_000;
const sweepMs = 60 * 60_000;

export function createScheduler(deps: ScheduleDeps): Scheduler {
  const { settings, log } = deps;
  const semaphore = createSemaphore(settings.schedule_concurrency);
  // A slow server must neither delay the other tasks of the next tick nor be worked on twice.
  const taken = new Set<number>();
  const pending = new Set<Promise<void>>();
  const track = (work: Promise<void>) => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  };

  const take = (id: number, pass: () => Promise<void>, signal: AbortSignal | undefined) => {
    if (taken.has(id)) return undefined;
    taken.add(id);
    const work = async () => {
      if (signal?.aborted) return;
      await pass().catch((error: Error) =>
        log.warn(
          { schedule: id, error: error.message },
          "pass over a scheduled task failed; retrying with the next tick",
        ),
      );
    };
    return track(semaphore.run(work).finally(() => taken.delete(id)));
  };

  let sweptAt = -Infinity;
  const sweep = async (now: Date) => {
    if (now.getTime() - sweptAt < sweepMs) return;
    await deps.triggers.sweep(now);
    sweptAt = now.getTime();
  };

  return {
    tick: async (signal) => {
      const work = async () => {
        const now = new Date(deps.now());
        await watchTriggers(deps);
        await sweep(now);
        const due = await deps.triggers.waiting(now, maxTasksPerTick);
        const found = await deps.schedules.findWork(now, maxTasksPerTick);
        await Promise.all([
          ...due.map((one) => take(one.found.row.id, () => reconcileTrigger(deps, one), signal)),
          ...found.map((one) => take(one.row.id, () => reconcileTask(deps, one), signal)),
        ]);
      };
      await timed(deps.metrics.ticked, work).catch((error: Error) =>
        log.warn({ error: error.message }, "reading due tasks failed; retrying with the next tick"),
      );
    },
    start: async (found) => {
      const waiting = new AbortController();
      const late = delay(settings.schedule_first_step, undefined, { signal: waiting.signal }).catch(() => {});
      await Promise.race([track(startRun(deps, found)), late]).finally(() => waiting.abort());
    },
    idle: async () => {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}

type LeaseSettings = Pick<ScheduleDeps["settings"], "lease_duration" | "lease_renew" | "schedule_tick">;

/** A dead leader may cost a tick: a lease that is renewed more often than the work needs only uses processor time. */
export function leaseTimes({ lease_duration, lease_renew, schedule_tick }: LeaseSettings) {
  const durationMs = Math.max(lease_duration, schedule_tick);
  return { durationMs, renewMs: (lease_renew * durationMs) / lease_duration };
}

/**
 * Ticks while this replica leads. Leading only saves the others the work: every transition is a compare-and-set, so two
 * leaders for a moment do no harm.
 */
export function startTicking(
  deps: ScheduleDeps,
  scheduler: Scheduler,
  identity: string,
): { close: () => Promise<void> } {
  const { kube, namespace, settings, log } = deps;
  const lease = startLease({
    kube,
    namespace,
    name: "lifecycle-schedules",
    identity,
    ...leaseTimes(settings),
    lead: async (signal) => {
      const tick = async () => void scheduler.tick(signal);
      await repeat(tick, { everyMs: settings.schedule_tick, onError: () => {}, signal });
      await scheduler.idle();
    },
    log,
  });
  return {
    close: async () => {
      await lease.release();
      await scheduler.idle();
    },
  };
}
