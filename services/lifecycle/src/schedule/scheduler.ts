// When tasks are looked at: every tick by the one replica that leads, and at once by hand on any.

import { setTimeout as delay } from "node:timers/promises";
import { startLease } from "@svc/kube";
import { createSemaphore } from "../semaphore.ts";
import type { ScheduleDeps } from "./deps.ts";
import { startRun, handleTask } from "./run.ts";
import type { Found } from "./store.ts";

export type Scheduler = {
  /** One look at everything that is to be done now; resolves when it was. */
  tick: (signal?: AbortSignal) => Promise<void>;
  /** Begins a run that was claimed by hand; resolves after its first step, or when that takes too long. */
  begin: (found: Found) => Promise<void>;
  /** Resolves when nothing that was begun here is under way. */
  idle: () => Promise<void>;
};

/** Tasks that one tick takes up; what is beyond comes with the next. */
const maxTasksPerTick = 2_000;

export function createScheduler(deps: ScheduleDeps): Scheduler {
  const { settings, log } = deps;
  const semaphore = createSemaphore(settings.schedule_concurrency);
  // One slow server must not keep the next tick from the others, nor be worked on twice.
  const taken = new Set<number>();
  const pending = new Set<Promise<void>>();
  const track = (work: Promise<void>) => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  };

  const take = (found: Found, signal: AbortSignal | undefined) => {
    const { id } = found.row;
    if (taken.has(id)) return undefined;
    taken.add(id);
    const work = async () => {
      if (signal?.aborted) return;
      await handleTask(deps, found).catch((error: Error) =>
        log.warn({ schedule: id, error: error.message }, "a scheduled task is left for the next tick"),
      );
    };
    return track(semaphore.run(work).finally(() => taken.delete(id)));
  };

  return {
    tick: async (signal) => {
      const startedAt = performance.now();
      const seconds = () => (performance.now() - startedAt) / 1_000;
      try {
        const found = await deps.schedules.findWork(new Date(deps.now()), maxTasksPerTick);
        await Promise.all(found.map((one) => take(one, signal)));
        deps.metrics.ticked(seconds(), "done");
      } catch (error) {
        deps.metrics.ticked(seconds(), "failed");
        log.warn({ error: (error as Error).message }, "due tasks could not be looked for");
      }
    },
    begin: async (found) => {
      const waiting = new AbortController();
      const late = delay(settings.schedule_first_step, undefined, { signal: waiting.signal }).catch(() => {});
      await Promise.race([track(startRun(deps, found)), late]).finally(() => waiting.abort());
    },
    idle: async () => {
      while (pending.size > 0) await Promise.allSettled(pending);
    },
  };
}

/**
 * Ticks while this replica leads. The lead saves the others the looks; that a run is done once is the work of the
 * compare-and-set of every transition, so two leaders for a moment do no harm.
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
    durationMs: settings.lease_duration,
    renewMs: settings.lease_renew,
    lead: async (signal) => {
      while (!signal.aborted) {
        void scheduler.tick(signal);
        await delay(settings.schedule_tick, undefined, { signal }).catch(() => {});
      }
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
