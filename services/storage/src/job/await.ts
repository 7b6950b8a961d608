// Jobs that somebody waits for.

import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import { inNamespace, logDepsOf, type StorageDeps } from "../deps.ts";
import { createJob } from "./begin.ts";
import { type Outcome, readOutcome } from "./outcome.ts";
import type { JobSpec } from "./spec.ts";
import { chooseTransport } from "./transport.ts";

export type Wait = {
  /** On the clock of `performance.now()`. */
  endAt: number;
  signal?: AbortSignal | undefined;
};

/**
 * Looks at a Job until it has ended; undefined when it has not at `endAt`. A look that fails is no answer: the Job goes on
 * while the cluster is away. Throws the reason of `signal`.
 */
export async function awaitOutcome(deps: StorageDeps, job: string, wait: Wait): Promise<Outcome | undefined> {
  const late = AbortSignal.timeout(Math.max(0, Math.ceil(wait.endAt - performance.now())));
  const stop = wait.signal ? AbortSignal.any([wait.signal, late]) : late;
  let failures = 0;
  while (!stop.aborted) {
    try {
      const outcome = await findOutcome(deps, job, stop);
      if (outcome) return outcome;
    } catch (error) {
      if (failures++ === 0 && !stop.aborted)
        deps.log.warn({ job, error: (error as Error).message }, "a look at a job failed and is repeated");
    }
    await delay(deps.settings.storage.await_interval, undefined, { signal: stop }).catch(() => {});
  }
  wait.signal?.throwIfAborted();
  return undefined;
}

async function findOutcome(
  deps: StorageDeps,
  job: string,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const found = await deps.kube.find(resources.jobs, { name: job, ...inNamespace(deps) }, { signal });
  if (!found) return { kind: "broken", message: "the job vanished" };
  return readOutcome({ ...logDepsOf(deps), signal }, found);
}

/** Takes a Job away whose end was read. If this fails its time to live ends it. */
export async function removeJob(deps: StorageDeps, job: string): Promise<void> {
  const target = { name: job, ...inNamespace(deps) };
  await deps.kube
    .remove(resources.jobs, target, { propagationPolicy: "Background" })
    .catch((error: unknown) => {
      if (!isKubeError(error, 404)) deps.log.warn({ job }, "a job that was read stays for a while");
    });
}

/** Runs a Job and takes it away when its answer is read; throws `unavailable` when that takes longer than asked. */
export async function runJob(
  deps: StorageDeps,
  wish: JobSpec,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<Outcome> {
  const endAt = performance.now() + options.timeoutMs;
  const job = { ttlMs: deps.settings.storage.job_ttl, ...(await chooseTransport(deps, wish)) };
  try {
    await createJob(deps, job);
    const outcome = await awaitOutcome(deps, wish.name, { endAt, signal: options.signal });
    if (outcome) return outcome;
    throw new Fault("unavailable", {
      message: "The job takes longer than this call may; try again later.",
      retryAfterSeconds: 30,
    });
  } finally {
    await removeJob(deps, wish.name);
  }
}
