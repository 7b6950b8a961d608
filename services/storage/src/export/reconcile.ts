// Ends exports that nobody else ends: of Jobs that died or never connected, of replicas that died with a parked body.

import { isKubeError, type Job, resources } from "@svc/kube";
import { isJobFinished } from "@svc/world-lock";
import { type ClusterDeps, inNamespace, logDepsOf } from "../deps.ts";
import { readOutcome } from "../job/outcome.ts";
import { refund } from "./admit.ts";
import type { ExportDeps } from "./deps.ts";
import { type Entry, isLive, type StoredExport, transition } from "./state.ts";

type Deps = Pick<ExportDeps, "kube" | "settings" | "now" | "transferMetrics" | "exports" | "exportStarts">;

type ObservedExport = { job: "missing" | "running" | "ended"; now: number };
type Timeouts = { export_appear: number; export_wait: number; file_op_patience: number };

/**
 * Decides the next state of an export. Its Job does not exist for a moment before it is created; a Job that vanished later
 * transfers nothing any more. Pure.
 */
export function decideExport(
  { state, started_at, changed_at }: Pick<StoredExport, "state" | "started_at" | "changed_at">,
  { job, now }: ObservedExport,
  patience: Timeouts,
): "wait" | "failed" | "spent" {
  const sinceChange = now - changed_at;
  if (state === "pending") {
    if (job === "ended") return "failed";
    if (job === "missing" && now - started_at > patience.file_op_patience) return "failed";
    return now - started_at > patience.export_appear ? "spent" : "wait";
  }
  if (job !== "running") return "spent";
  return state === "ready" && sinceChange > 2 * patience.export_wait ? "spent" : "wait";
}

/** Reconciles one export and returns its new state. */
export async function reconcileExport(deps: Deps, entry: Entry): Promise<StoredExport> {
  if (!isLive(entry.value)) return entry.value;
  const job = await deps.kube.find(resources.jobs, { name: entry.value.job, ...inNamespace(deps) });
  const next = decideExport(entry.value, { job: stateOf(job), now: deps.now() }, deps.settings.storage);
  if (next === "wait") return entry.value;
  const failure = next === "failed" ? await describeFailure(deps, job) : {};
  const done = await transition(deps, entry, { state: next, ...failure });
  if (done && next === "failed" && !job) await refund(deps, done.value);
  if (!done) return (await deps.exports.get(entry.key))?.value ?? { ...entry.value, state: "spent" };
  if (job && !isJobFinished(job)) await removeExportJob(deps, entry.value.job);
  return done.value;
}

function stateOf(job: Job | undefined): ObservedExport["job"] {
  if (!job) return "missing";
  return isJobFinished(job) ? "ended" : "running";
}

async function describeFailure(
  deps: ClusterDeps,
  job: Job | undefined,
): Promise<Pick<StoredExport, "message" | "code">> {
  const outcome = job && (await readOutcome(logDepsOf(deps), job));
  if (outcome?.kind === "refused") return { message: outcome.fault.message, code: outcome.fault.code };
  return {
    message: outcome?.kind === "broken" ? outcome.message : "the job no longer exists",
    code: "job_failed",
  };
}

/** Deletes the Job of an export that nobody may download any more. */
export async function removeExportJob(deps: ClusterDeps, name: string): Promise<void> {
  try {
    const target = { name, ...inNamespace(deps) };
    await deps.kube.remove(resources.jobs, target, { propagationPolicy: "Background" });
  } catch (error) {
    if (!isKubeError(error, 404)) throw error;
  }
}

/** Reconciles all exports, and deletes running Jobs of ended ones. */
async function sweepExports(deps: Deps): Promise<void> {
  for (const id of await deps.exports.keys()) {
    const entry = await deps.exports.get(id);
    if (!entry) continue;
    if (isLive(entry.value)) await reconcileExport(deps, entry);
    else if (deps.now() - entry.value.changed_at > deps.settings.storage.export_wait) {
      const job = await deps.kube.find(resources.jobs, { name: entry.value.job, ...inNamespace(deps) });
      if (job && !isJobFinished(job)) await removeExportJob(deps, entry.value.job);
    }
  }
}

export function startExportSweep(deps: ExportDeps): void {
  deps.background.every("export sweep", deps.settings.storage.export_sweep, () => sweepExports(deps));
}
