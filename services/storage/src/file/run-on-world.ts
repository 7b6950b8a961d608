// File Jobs with a waiting caller.

import type { Context } from "@svc/mesh";
import { type AnyContract, Fault } from "@svc/proto";
import type { Task, TaskDone } from "@svc/proto/world-task";
import type { StorageDeps } from "../deps.ts";
import { awaitOutcome, removeJob } from "../job/await.ts";
import { newJobName } from "../job/names.ts";
import type { Outcome } from "../job/outcome.ts";
import type { JobSecret } from "../job/spec.ts";
import { admitChange, type Change, endingOf, endingOfStart, recordEnding } from "./change.ts";
import type { FileDeps } from "./deps.ts";
import { faultOf } from "./faults.ts";
import { createFileJob, lockWorld, openStoppedWorld, type WorldAccess } from "./open-world.ts";

type Requester = Pick<Context<AnyContract>, "principal" | "client" | "requestId">;
type FileRun = WorldAccess &
  Requester & {
    task: Task;
    secret?: JobSecret;
    signal?: AbortSignal | undefined;
    /** The change for the audit log; absent for a list or read. */
    change?: Change;
  };

/**
 * Runs one file Job. Throws the fault of its failure, or `files_timeout` when it takes longer than a caller waits: then the
 * Job continues, and its change is recorded later.
 */
export async function runOnWorld(deps: FileDeps, run: FileRun): Promise<TaskDone> {
  const startedAt = performance.now();
  const endAt = startedAt + deps.settings.storage.file_wait;
  const { principal } = run;
  const caller = principal.kind === "account" ? principal.user_id : principal.kind;
  const outcome = await deps.jobSlots.run(caller, async () => {
    const job = newJobName("files", run.server);
    deps.attended.add(job);
    try {
      await start(deps, run, job);
      const ended = await awaitOutcome(deps, job, { endAt, signal: run.signal });
      if (ended) recordInBackground(deps, run, { job, outcome: ended });
      return ended;
    } finally {
      deps.attended.delete(job);
    }
  });
  const result = outcome?.kind ?? "late";
  deps.transferMetrics.fileJob(run.task.mode, result, (performance.now() - startedAt) / 1_000);
  if (!outcome) throw new Fault("files_timeout");
  if (outcome.kind === "done") return outcome.done;
  throw faultOf(outcome, { isReader: run.change === undefined });
}

// The Job is deleted only when its outcome is recorded; until then the reconcile of changes finds it.
function recordInBackground(
  deps: Pick<FileDeps, "kube" | "db" | "settings" | "log" | "background">,
  run: FileRun,
  ended: { job: string; outcome: Outcome },
): void {
  const { job, outcome } = ended;
  deps.background.run("file job end", async () => {
    if (run.change) await recordEnding(deps.db, job, endingOf(outcome));
    // Its log may contain file contents.
    await removeJob(deps, job);
  });
}

async function start(deps: StorageDeps, run: FileRun, job: string): Promise<void> {
  const { file_deadline: deadlineMs, file_job_ttl, job_unnoted_ttl } = deps.settings.storage;
  const { task, secret, change } = run;
  const spec = { name: job, task, deadlineMs, ...(secret && { secret }) };
  if (!change)
    return createFileJob(deps, await openStoppedWorld(deps, run), { ...spec, ttlMs: file_job_ttl });
  const { lock, world } = await lockWorld(deps, run, "file-write");
  let isAdmitted = false;
  try {
    await admitChange(deps.db, run, { job, server: run.server, change, now: deps.now() });
    isAdmitted = true;
    lock.assertHeld();
    await createFileJob(deps, world, { ...spec, ttlMs: job_unnoted_ttl });
  } catch (error) {
    const ending = isAdmitted ? endingOfStart(error) : undefined;
    if (ending) await recordEnding(deps.db, job, ending).catch(() => {});
    throw error;
  } finally {
    await lock.release();
  }
}
