// One pass over every world on its way to a clone: observe, decide, act.

import { isKubeError } from "@svc/kube";
import { isFault } from "@svc/proto";
import { findHolder, lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import { startBackup } from "../backup/start.ts";
import { findBackup } from "../backup/store.ts";
import type { OriginRow } from "../database/tables.ts";
import { type ClusterDeps, inNamespace, lockDepsOf, type StorageDeps } from "../deps.ts";
import { createJob } from "../job/begin.ts";
import { insertJob, type NewJob } from "../job/store.ts";
import { chooseTransport } from "../job/transport.ts";
import { hasVolume, makeVolume } from "../job/world-claim.ts";
import { restoreJobSpec } from "../restore/job-spec.ts";
import { decideOrigin, type Failure, type Plan } from "./decide.ts";
import { type Found, isLate, observeOrigin, runKeyOf } from "./observe.ts";
import { changeOrigin, isStill, listOpenOrigins } from "./store.ts";

/** Returns whether anything is under way; a failed one waits for somebody. */
export async function stepOrigins(deps: StorageDeps, signal: AbortSignal): Promise<boolean> {
  const open = await listOpenOrigins(deps.db);
  for (const row of open) {
    if (signal.aborted) break;
    await stepOrigin(deps, row);
  }
  return open.some(({ state }) => state !== "failed");
}

async function stepOrigin(deps: StorageDeps, row: OriginRow): Promise<void> {
  try {
    const { observed, found } = await observeOrigin(deps, row);
    await act(deps, found, decideOrigin(observed));
  } catch (error) {
    const { message } = error as Error;
    deps.log.warn({ server: row.server_name, error: message }, "bringing the world of a clone failed");
    const code = finalCodeOf(error) ?? (isLate(deps, row) ? "copy_failed" : undefined);
    if (code && row.state !== "failed") await fail(deps, row, { code, message });
  }
}

/** Undefined for what may be over at the next pass: a dependency that is away, or somebody else who works on the world. */
function finalCodeOf(error: unknown): Failure["code"] | undefined {
  if (isKubeError(error)) return error.code === 403 || error.code === 422 ? "copy_failed" : undefined;
  if (!isFault(error)) return undefined;
  if (error.fault === "not_stopped") return "source_not_stopped";
  if (error.fault === "not_found") return "copy_failed";
  return error.fault === "no_world_volume" ? "no_world_volume" : undefined;
}

async function act(deps: StorageDeps, found: Found, plan: Plan): Promise<void> {
  const { row, backup } = found;
  switch (plan.action) {
    case "start-backup":
      return makeBackup(deps, row);
    case "use-backup":
      if (backup) await changeOrigin(deps.db, row, { state: "restoring", backup_id: backup.id });
      return;
    case "start-restore":
      return startRestore(deps, found);
    case "end":
      if (plan.unlocks && !(await unlock(deps, row))) return;
      if (await changeOrigin(deps.db, row, { state: plan.state, finished_at: new Date(deps.now()) }))
        deps.log.info({ server: row.server_name, state: plan.state }, "clone ended");
      return;
    case "fail":
      return fail(deps, row, plan.failure);
  }
}

async function fail(deps: StorageDeps, row: OriginRow, { code, message }: Failure): Promise<void> {
  const finished_at = new Date(deps.now());
  if (!(await changeOrigin(deps.db, row, { state: "failed", code, message, finished_at }))) return;
  deps.log.warn({ server: row.server_name, code, error: message }, "clone has no world");
}

async function makeBackup(deps: StorageDeps, row: OriginRow): Promise<void> {
  await startBackup(deps, {
    server: row.source_name,
    reason: "manual",
    startedBy: row.started_by,
    limits: { cooldown: false, cap: false },
    check: () => {},
    runKey: runKeyOf(row),
    audit: {
      ...{ actor: row.started_by, source: "internal:storage", action: "backup.create" },
      payload: { clone: row.server_name },
    },
  });
}

/** Under the clone's own lock, which no other operation gets past. */
async function startRestore(deps: StorageDeps, { row, world, backup }: Found): Promise<void> {
  if (!world || !backup) return;
  // A Job of an attempt that was given up may still run.
  if (await hasOtherJob(deps, row)) return;
  if (!(await hasVolume(deps, world))) await makeVolume(deps, world);
  const about = { job: row.job, server_name: row.server_name, only_paths: null };
  const spec = restoreJobSpec(deps, about, { backup, world });
  const sent = await chooseTransport(deps, spec);
  const start: NewJob = {
    ...{ job: row.job, server_name: row.server_name, kind: "restore", state: "running" },
    ...{ owner_id: world.owner_id ?? null, started_by: row.started_by, backup_id: backup.id },
    started_at: new Date(deps.now()),
  };
  await deps.db.transaction().execute(async (trx) => {
    const wanted = { scope: { kind: "all" }, id: backup.id, lock: true } as const;
    if (!(await isStill(trx, row)) || !(await findBackup(trx, wanted))) return;
    // Its name is that of the row: a process that dies before the commit leaves a Job that the next one finds.
    await createJob(deps, sent);
    // From here on the backup cannot expire until the Job has ended.
    await insertJob(trx, start);
  });
}

async function hasOtherJob(deps: ClusterDeps, row: OriginRow): Promise<boolean> {
  const server = { metadata: { name: row.server_name, ...inNamespace(deps) } };
  const holder = await findHolder(deps.kube, server, { now: Date.now(), ttlMs: lockDepsOf(deps).ttlMs });
  return holder?.by === "job" && holder.job !== row.job;
}

/** False when somebody wrote to the object meanwhile: the next pass looks again. Removes no lock but the clone's own. */
async function unlock({ kube, ...deps }: ClusterDeps, row: OriginRow): Promise<boolean> {
  const target = { name: row.server_name, ...inNamespace(deps) };
  const server = await kube.find(lockedServers, target);
  if (server?.metadata.annotations?.[maintenanceAnnotation] !== row.lock) return false;
  const { resourceVersion } = server.metadata;
  const merge = { metadata: { resourceVersion, annotations: { [maintenanceAnnotation]: null } } };
  await kube.patch(lockedServers, target, { merge });
  return true;
}
