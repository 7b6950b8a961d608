// Jobs that somebody waits for: short reads that leave no row.

import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import { reachable } from "../archive/reach.ts";
import { createJob } from "./begin.ts";
import { logDepsOf, placeOf, type StorageDeps } from "./deps.ts";
import { type Outcome, readOutcome } from "./outcome.ts";
import { type JobWish, worldJob } from "./spec.ts";

/** Runs a Job and takes it away when its answer is read; throws `unavailable` when that takes longer than asked. */
export async function runToEnd(
  deps: StorageDeps,
  wish: JobWish,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<Outcome> {
  const target = { name: wish.name, ...placeOf(deps) };
  const endAt = performance.now() + options.timeoutMs;
  const job = { ttlMs: deps.settings.storage.job_ttl, ...(await reachable(deps, wish)) };
  await createJob(deps, worldJob(deps.settings, job));
  try {
    while (performance.now() < endAt) {
      options.signal?.throwIfAborted();
      const job = await deps.kube.find(resources.jobs, target);
      if (!job) return { kind: "broken", message: "the job vanished" };
      const outcome = await readOutcome(logDepsOf(deps), job);
      if (outcome) return outcome;
      await delay(deps.settings.storage.await_interval);
    }
    throw new Fault("unavailable", { message: "The job takes longer than this call may; try again later." });
  } finally {
    await deps.kube
      .remove(resources.jobs, target, { propagationPolicy: "Background" })
      .catch((error: unknown) => {
        if (!isKubeError(error, 404))
          deps.log.warn({ job: wish.name }, "a job that was read stays for a while");
      });
  }
}
