// File Jobs that somebody waits for (behaviour.md h.7).

import { setTimeout as delay } from "node:timers/promises";
import { resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import type { Task, TaskDone } from "@svc/world";
import { logDepsOf, placeOf } from "../job/deps.ts";
import { newJobName } from "../job/names.ts";
import { type Outcome, readOutcome } from "../job/outcome.ts";
import type { TransferDeps } from "./deps.ts";
import { faultOf } from "./faults.ts";
import { createFileJob, holdWorld, isReader, openStopped, type Visit } from "./world.ts";

export type FileRun = Visit & {
  task: Task;
  secretEnv?: Record<string, string>;
  signal?: AbortSignal | undefined;
};

/** Does one thing with the files of a world. Throws the fault of its refusal, or `files_timeout`. */
export async function runOnWorld(deps: TransferDeps, run: FileRun): Promise<TaskDone> {
  const startedAt = performance.now();
  const outcome = await inTurn(deps, run, async () => {
    const job = newJobName("files", run.server);
    await start(deps, run, job);
    return waitFor(deps, job, run.signal);
  });
  const result = outcome.kind === "done" ? "done" : outcome.kind;
  deps.transferMetrics.fileJob(run.task.mode, result, (performance.now() - startedAt) / 1_000);
  if (outcome.kind === "done") return outcome.done;
  throw faultOf(outcome);
}

const waiting = new WeakMap<TransferDeps, Map<string, number>>();

// Every look is a pod: nobody may ask for more of them at once than a person can.
async function inTurn<T>(deps: TransferDeps, { principal }: FileRun, work: () => Promise<T>): Promise<T> {
  const who = principal.kind === "account" ? principal.user_id : principal.kind;
  const counts = waiting.get(deps) ?? new Map<string, number>();
  waiting.set(deps, counts);
  const count = counts.get(who) ?? 0;
  if (count >= deps.settings.storage.file_jobs_at_once) {
    const message = "You have too many file operations waiting; let one end first.";
    throw new Fault("overloaded", { message, retryAfterSeconds: 2 });
  }
  counts.set(who, count + 1);
  try {
    return await work();
  } finally {
    const left = (counts.get(who) ?? 1) - 1;
    if (left > 0) counts.set(who, left);
    else counts.delete(who);
  }
}

async function start(deps: TransferDeps, run: FileRun, name: string): Promise<void> {
  const { file_deadline: deadlineMs, file_job_ttl: ttlMs } = deps.settings.storage;
  const { task, secretEnv = {} } = run;
  const wish = { name, task, deadlineMs, ttlMs, secretEnv };
  if (isReader(task)) return createFileJob(deps, await openStopped(deps, run), wish);
  const { hold, world } = await holdWorld(deps, run, "file-write");
  try {
    hold.assertHeld();
    await createFileJob(deps, world, wish);
  } finally {
    await hold.release();
  }
}

async function waitFor(deps: TransferDeps, name: string, signal?: AbortSignal): Promise<Outcome> {
  const { file_wait, await_interval } = deps.settings.storage;
  const target = { name, ...placeOf(deps) };
  const endAt = performance.now() + file_wait;
  while (performance.now() < endAt) {
    signal?.throwIfAborted();
    const job = await deps.kube.find(resources.jobs, target);
    if (!job) return { kind: "broken", message: "the job vanished" };
    const outcome = await readOutcome(logDepsOf(deps), job);
    if (outcome) {
      // Its log may hold what was read. If this fails its time to live ends it.
      await deps.kube.remove(resources.jobs, target, { propagationPolicy: "Background" }).catch(() => {});
      return outcome;
    }
    await delay(await_interval);
  }
  throw new Fault("files_timeout");
}
