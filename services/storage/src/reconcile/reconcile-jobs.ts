// Reconciles everything that runs on worlds: records ends, continues restores, and finds what was lost. Rows are read
// before Jobs, so that a Job that is not listed did not exist after its row was written.

import { type Job, resources } from "@svc/kube";
import { isJobFinished } from "@svc/world-lock";
import { presentBytes } from "../backup/store.ts";
import type { JobRow } from "../database/tables.ts";
import { inNamespace, logDepsOf, type StorageDeps } from "../deps.ts";
import { createJob, unblockJob } from "../job/begin.ts";
import { decideEnd, decideJob, type Observed, type Plan } from "../job/decide.ts";
import { jobNameAfter, label } from "../job/names.ts";
import { readOutcome } from "../job/outcome.ts";
import { shortenTtl } from "../job/shorten-ttl.ts";
import { needsSecret } from "../job/spec.ts";
import { findJob, findOpenJobs, markRunning, startRecovery, withdrawStart } from "../job/store.ts";
import { noteWaiting } from "../job/waiting.ts";
import { continueRestore, relabelSnapshot } from "../restore/after-snapshot.ts";
import { recordBackupMade, recordFailure, recordSuccess } from "./record-end.ts";

const maxRows = 500;
const managers = "svc-backup,svc-restore,svc-export,svc-verify";

type Jobs = ReadonlyMap<string, Job>;

/**
 * One round; a row that fails is retried in the next round and does not block others. `isBusy`: the next one may find more
 * to do although no row changes.
 */
export async function reconcileJobs(
  deps: StorageDeps,
  signal?: AbortSignal,
): Promise<{ openRows: number; isBusy: boolean }> {
  const rows = await findOpenJobs(deps.db, maxRows);
  const labelSelector = `${label.managedBy} in (${managers})`;
  const { items } = await deps.kube.list(resources.jobs, { ...inNamespace(deps), labelSelector });
  const jobs: Jobs = new Map(items.map((job) => [job.metadata.name, job]));
  for (const row of rows) {
    if (signal?.aborted) break;
    await reconcileRow(deps, row, jobs).catch((error: Error) =>
      deps.log.warn({ job: row.job, error: error.message }, "world job reconcile failed; retrying"),
    );
  }
  for (const job of items) {
    if (isStuckWithoutSecret(deps, job)) await unblockJob(deps, job);
    await noteWaiting(deps, job).catch((error: Error) =>
      deps.log.warn({ job: job.metadata.name, error: error.message }, "waiting job was not noted; retrying"),
    );
  }
  await releaseStaleSnapshots(deps, rows, jobs);
  const { bytes, count } = await presentBytes(deps.db);
  deps.metrics.stored(bytes, count);
  return { openRows: rows.length, isBusy: rows.length > 0 || items.some((job) => !isJobFinished(job)) };
}

async function reconcileRow(deps: StorageDeps, row: JobRow, jobs: Jobs): Promise<void> {
  if (row.state === "starting" || row.state === "running") await reconcileJob(deps, row, jobs);
  if (row.then_restore !== "pending") return;
  const now = await findJob(deps.db, row.job);
  if (now) await continueRestore(deps, now, jobs);
}

// A Job gets its Secret within moments of its creation.
function isStuckWithoutSecret({ settings, now }: Pick<StorageDeps, "settings" | "now">, job: Job): boolean {
  const { ready = 0 } = (job.status ?? {}) as { ready?: number };
  const madeAt = Date.parse(job.metadata.creationTimestamp ?? "");
  const isLong = now() - madeAt > settings.storage.start_patience;
  return needsSecret(job) && !isJobFinished(job) && ready === 0 && isLong;
}

function stateOf(job: Job | undefined): "missing" | "active" | "finished" {
  if (!job) return "missing";
  return isJobFinished(job) ? "finished" : "active";
}

async function reconcileJob(deps: StorageDeps, row: JobRow, jobs: Jobs): Promise<void> {
  await act(deps, { row, jobs }, decideJob(observe(deps, row, jobs)));
}

function observe(
  { settings, now }: Pick<StorageDeps, "settings" | "now">,
  row: JobRow,
  jobs: Jobs,
): Observed {
  return {
    row,
    job: stateOf(jobs.get(row.job)),
    recovery: stateOf(jobs.get(row.recovery ?? "")),
    now: now(),
    startPatienceMs: settings.storage.start_patience,
  };
}

const vanished = "the job no longer exists";

async function act(deps: StorageDeps, { row, jobs }: { row: JobRow; jobs: Jobs }, plan: Plan): Promise<void> {
  switch (plan) {
    case "wait":
      return;
    case "mark-running":
      return markRunning(deps.db, row.job);
    case "read":
      return recordOutcome(deps, row, jobs.get(row.job));
    case "read-recovery":
      return recordOutcome(deps, row, jobs.get(row.recovery ?? ""));
    case "recover":
      return recover(deps, row, row.message || vanished);
    case "never-started":
      await withdrawStart(deps.db, row.job);
      await recordFailure(deps, row, "the job was never started");
      return;
    case "lost":
      await recordFailure(deps, row, vanished);
  }
}

/** `job` is the row's Job or the check after it. */
async function recordOutcome(deps: StorageDeps, row: JobRow, job: Job | undefined): Promise<void> {
  const outcome = job && (await readOutcome(logDepsOf(deps), job));
  if (!outcome) return;
  const plan = decideEnd(row, outcome);
  if (plan.action === "recover") return recover(deps, row, plan.message);
  if (plan.action === "fail") await recordFailure(deps, row, plan.failure);
  if (plan.action === "record-backup") await recordBackupMade(deps, row, plan.done);
  if (plan.action === "succeed") await recordSuccess(deps, row);
  await shortenTtl(deps, row.job);
  if (row.recovery !== null) await shortenTtl(deps, row.recovery);
}

// A backup that ended without a result may have finished its archive just before: then it is a backup.
async function recover(deps: StorageDeps, row: JobRow, message: string): Promise<void> {
  const { db, settings } = deps;
  if (row.archive === null) return void (await recordFailure(deps, row, message));
  const recovery = row.recovery ?? jobNameAfter(row.job, "verify", row.server_name);
  await startRecovery(db, row.job, { recovery, message });
  await createJob(deps, {
    name: recovery,
    server: row.server_name,
    manager: "svc-verify",
    task: { mode: "verify", from: { kind: "archive", name: row.archive } },
    deadlineMs: settings.storage.verify_deadline,
    archive: "ro",
  });
}

// A snapshot that no row waits for any more must not lock its world until the Job is gone.
async function releaseStaleSnapshots(
  deps: Pick<StorageDeps, "kube" | "db" | "settings">,
  rows: readonly JobRow[],
  jobs: Jobs,
): Promise<void> {
  const open = new Set(rows.map(({ job }) => job));
  for (const [name, { metadata }] of jobs) {
    if (metadata.labels?.[label.thenRestore] !== "pending" || open.has(name)) continue;
    const row = await findJob(deps.db, name);
    if (row?.then_restore === "pending") continue;
    await relabelSnapshot(deps, name, row?.then_restore === "started" ? "started" : "abandoned");
  }
}
