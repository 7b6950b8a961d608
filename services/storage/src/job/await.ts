// Jobs with a waiting caller.

import { isKubeError, resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import { type ClusterDeps, inNamespace, logDepsOf, type StorageDeps } from "../deps.ts";
import { createJob } from "./begin.ts";
import { type Outcome, readOutcome } from "./outcome.ts";
import { type Polling, poll } from "./poll.ts";
import type { JobSpec } from "./spec.ts";
import { chooseTransport } from "./transport.ts";

type Deps = Pick<StorageDeps, "kube" | "settings" | "log">;

/**
 * The outcome of a Job; undefined when it has not ended at `endAt`. A failed poll is repeated: the Job continues while
 * the cluster is down. Throws the reason of `signal`.
 */
export async function awaitOutcome(
  deps: Deps,
  job: string,
  wait: Omit<Polling, "everyMs">,
): Promise<Outcome | undefined> {
  let failures = 0;
  const probe = (signal: AbortSignal) =>
    findOutcome(deps, job, signal).catch((error: Error) => {
      if (failures++ === 0 && !signal.aborted)
        deps.log.warn({ job, error: error.message }, "job poll failed; retrying");
      return undefined;
    });
  return poll(probe, { ...wait, everyMs: deps.settings.storage.await_interval });
}

async function findOutcome(
  deps: ClusterDeps,
  job: string,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const found = await deps.kube.find(resources.jobs, { name: job, ...inNamespace(deps) }, { signal });
  if (!found) return { kind: "broken", message: "the job no longer exists" };
  return readOutcome({ ...logDepsOf(deps), signal }, found);
}

/** Deletes a Job whose result was read. If this fails its TTL removes it. */
export async function removeJob(deps: Deps, job: string): Promise<void> {
  const target = { name: job, ...inNamespace(deps) };
  await deps.kube
    .remove(resources.jobs, target, { propagationPolicy: "Background" })
    .catch((error: unknown) => {
      if (!isKubeError(error, 404))
        deps.log.warn({ job }, "finished job was not deleted; its TTL removes it");
    });
}

/** Runs a Job and deletes it when its result is read; throws `unavailable` after `timeoutMs`. */
export async function runJob(
  deps: StorageDeps,
  spec: JobSpec,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<Outcome> {
  const endAt = performance.now() + options.timeoutMs;
  const job = { ttlMs: deps.settings.storage.job_ttl, ...(await chooseTransport(deps, spec)) };
  try {
    await createJob(deps, job);
    const outcome = await awaitOutcome(deps, spec.name, { endAt, signal: options.signal });
    if (outcome) return outcome;
    throw new Fault("unavailable", {
      message: "The job did not finish in time; try again later.",
      retryAfterSeconds: 30,
    });
  } finally {
    await removeJob(deps, spec.name);
  }
}
