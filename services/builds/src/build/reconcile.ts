// Brings builds forward: any replica may, since every change of a row is a compare-and-set and a Job's name is that of its
// build. One replica does it in a loop (leader.ts); others when somebody reads or changes a build.

import { isKubeError } from "@svc/kube";
import { isRegistryError } from "@svc/registry";
import { type BuildPlan, decideBuild, fail, isOverdue, type ObservedBuild } from "./decide.ts";
import type { ClusterDeps } from "./deps.ts";
import { launch, removeJob, removeSecret } from "./launch.ts";
import { collectLog } from "./log/collect.ts";
import { type BuildObjects, observeBuild, readObjects, stateOf } from "./observe.ts";
import { PushRefused } from "./push-registry.ts";
import type { BuildRow } from "./row.ts";
import { finish, seal } from "./seal.ts";
import {
  countUnfinished,
  deleteEarlierScans,
  endBuild,
  findBuild,
  listBuilding,
  listUncleaned,
  markCleaned,
  saveScan,
  saveSteps,
  startPending,
} from "./store.ts";
import { tell } from "./tell.ts";

const usualSlots = 2;

/** Starts what waits and brings everything that runs forward; returns the builds that still run. */
export async function reconcileBuilds(deps: ClusterDeps, signal?: AbortSignal): Promise<BuildRow[]> {
  await startWaiting(deps);
  const rows = await listBuilding(deps.db);
  const objects = await readObjects(deps);
  const running: BuildRow[] = [];
  for (const row of rows) {
    if (signal?.aborted) return rows;
    const after = await reconcileRow(deps, row, objects).catch((error: Error) => {
      deps.log.warn({ build: row.id, error: error.message }, "build reconcile failed; retrying");
      return row;
    });
    if (after.status === "building") running.push(after);
  }
  await removeLeftJobs(deps, rows, objects);
  await removeSecrets(deps);
  // A slot may be free now.
  if (running.length < rows.length) await startWaiting(deps);
  deps.metrics.unfinished(await countUnfinished(deps.db));
  return running;
}

async function startWaiting({ db, settings }: Pick<ClusterDeps, "db" | "settings">): Promise<string[]> {
  const slots = settings.registry.max_concurrent_builds || usualSlots;
  return startPending(db, { slots, hasEgressGate: settings.builds.egress_gate });
}

/** One build, for those who wait for an answer about it. */
export async function reconcileBuild(deps: ClusterDeps, row: BuildRow): Promise<BuildRow> {
  if (row.status !== "building") return row;
  return reconcileRow(deps, row, await readObjects(deps, row.id));
}

async function reconcileRow(deps: ClusterDeps, row: BuildRow, objects: BuildObjects): Promise<BuildRow> {
  if (row.sealed_at) return finish(deps, row);
  const observed = await observeBuild(deps, row, objects);
  return act(deps, { row, observed, objects }, decideBuild(observed));
}

type Subject = { row: BuildRow; observed: ObservedBuild; objects: BuildObjects };

async function act(deps: ClusterDeps, subject: Subject, plan: BuildPlan): Promise<BuildRow> {
  const { row } = subject;
  if (plan.effects.includes("launch")) return launchOrFail(deps, subject);
  if (plan.effects.includes("seal")) return attestAndSeal(deps, subject);
  if (!plan.effects.includes("record")) {
    if (JSON.stringify(plan.steps) !== JSON.stringify(row.steps))
      await saveSteps(deps.db, row.id, plan.steps);
    return { ...row, steps: [...plan.steps] };
  }
  return end(deps, subject, plan);
}

async function attestAndSeal(deps: ClusterDeps, subject: Subject): Promise<BuildRow> {
  const { row, observed, objects } = subject;
  const attested = await deps.attest(row, observed).catch((error: Error) => {
    if (error instanceof PushRefused) return error.message;
    if (!isRegistryError(error) || !isOverdue(observed)) throw error;
    return `provenance: the registry is unavailable; retry the build later. ${error.message}`;
  });
  if (typeof attested === "string") return end(deps, subject, fail(observed, attested));
  const log = await collectLog(deps, { pod: objects.pods.get(row.id), steps: observed.steps });
  const sealed = await seal(deps, row, { observed, attested, log });
  if (sealed) return finish(deps, sealed);
  return (await findBuild(deps.db, row.id)) ?? row;
}

async function end(deps: ClusterDeps, subject: Subject, plan: BuildPlan): Promise<BuildRow> {
  const { row, objects } = subject;
  const log = await collectLog(deps, { pod: objects.pods.get(row.id), steps: plan.steps });
  const ended = await record(deps, subject, { plan, log });
  if (plan.effects.includes("remove-job")) await removeJob(deps, row.id);
  return ended ?? (await findBuild(deps.db, row.id)) ?? row;
}

/** A cluster that can't be asked is asked again; what it rejects never becomes a Job. */
async function launchOrFail(deps: ClusterDeps, subject: Subject): Promise<BuildRow> {
  const { row, observed } = subject;
  try {
    await launch(deps, row);
    return row;
  } catch (error) {
    // 403 is also an exhausted quota, which others will free.
    if (!isKubeError(error) || ![400, 404, 422].includes(error.code)) throw error;
    const message = `the cluster rejected the build's Job: ${error.message}`.slice(0, 1_000);
    const plan: BuildPlan = {
      status: "failed",
      steps: observed.steps.map((step) => ({ ...step, state: "skipped" })),
      error: message,
      effects: ["record"],
      requeueMs: "never",
    };
    return (await record(deps, subject, { plan })) ?? row;
  }
}

/** Verdict, log and end of what failed, or of a scan, in one transaction; undefined when somebody else has written the end. */
async function record(
  deps: ClusterDeps,
  { row, observed }: Subject,
  { plan, log }: { plan: BuildPlan; log?: Buffer | undefined },
): Promise<BuildRow | undefined> {
  const { verdict, push, built } = observed;
  const status = plan.status === "succeeded" ? "succeeded" : "failed";
  const ended = await deps.db.transaction().execute(async (trx) => {
    const end = {
      status,
      steps: plan.steps,
      error: plan.error,
      imageDigest: push?.digest,
      bases: built?.bases,
      log,
    } as const;
    const after = await endBuild(trx, row.id, end);
    if (!after) return undefined;
    if (verdict) {
      const about = { scannedAt: new Date(verdict.scanned_at), summary: verdict.summary };
      await saveScan(trx, row.id, about);
    } else await trx.deleteFrom("image_build_documents").where("build_id", "=", row.id).execute();
    if (after.kind === "scan" && status === "succeeded") await deleteEarlierScans(trx, after);
    await deps.onEnded(trx, after);
    return after;
  });
  if (ended && push) deps.metrics.pushed(push);
  if (ended) tell(deps, ended);
  return ended;
}

const mostCleaned = 100;

/** A finished Job stays, so that it can be looked at; its secrets must not. */
async function removeSecrets(deps: ClusterDeps): Promise<void> {
  for (const { id } of await listUncleaned(deps.db, mostCleaned)) {
    await removeSecret(deps, id);
    await markCleaned(deps.db, id);
  }
}

/** What a cancel or an end could not remove, because the cluster was down or the replica died. */
async function removeLeftJobs(
  deps: ClusterDeps,
  rows: readonly BuildRow[],
  { jobs }: BuildObjects,
): Promise<void> {
  const running = new Set(rows.map(({ id }) => id));
  for (const [id, job] of jobs) {
    if (running.has(id) || stateOf(job) !== "active") continue;
    // The list of rows is older than that of Jobs.
    const row = await findBuild(deps.db, id);
    if (row?.status === "building") continue;
    await removeJob(deps, id);
  }
}
