// Starts a Job on a world: under the world's lock, with its row written first (docs/reference/world-lock.md#lock).

import { isKubeError, type Job, resources } from "@svc/kube";
import { Fault, isFault } from "@svc/proto";
import { auditRow, type NewAuditEntry, violates } from "@svc/store";
import { acquireLock, type LockKind } from "@svc/world-lock";
import type { JobRow, StorageTrx } from "../database/tables.ts";
import { type ClusterDeps, inNamespace, lockDepsOf, type StorageDeps } from "../deps.ts";
import { placeJob } from "./placement.ts";
import { type JobSpec, type PlacedJobSpec, secretOfJob, worldJob } from "./spec.ts";
import { insertJob, markRunning, type NewJob, rejectJob } from "./store.ts";
import { chooseTransport } from "./transport.ts";
import { assertConfigured, assertStopped, assertVolume, describeWorld, type WorldServer } from "./world.ts";
import { makeVolume } from "./world-claim.ts";

type JobRequest = {
  server: string;
  lock: LockKind;
  /** For a server without a volume: makes one, in place of `no_world_volume`. */
  makesVolume?: boolean;
  /** Whether the caller may do this; checked again under the lock, since the owner may have changed. */
  check: (world: WorldServer) => void | Promise<void>;
  /** Checks limits and returns the row, in one transaction; throws to reject. */
  admit: (trx: StorageTrx, world: WorldServer) => Promise<NewJob>;
  /** The audit entry; it is published once the Job exists. */
  audit?: (row: NewJob) => NewAuditEntry;
  spec: (row: JobRow, world: WorldServer) => JobSpec;
};

/** Starts a Job on the world of a server that is fully stopped; returns its row. */
export async function beginJob(deps: StorageDeps, beginning: JobRequest): Promise<JobRow> {
  const { server: name } = beginning;
  const assertStartable = async () => {
    const world = await describeWorld(deps, name);
    await beginning.check(world);
    assertConfigured(deps);
    assertStopped(world);
    return world;
  };
  const first = await assertStartable();
  if (!beginning.makesVolume) await assertVolume(deps, first);
  const about = { kind: beginning.lock, mustBeStopped: true };
  const lock = await acquireLock(lockDepsOf(deps), { name, ...inNamespace(deps) }, about);
  try {
    const world = await assertStartable();
    if (beginning.makesVolume) await makeVolume(deps, world);
    const row = await writeRow(deps, beginning, world);
    let mayExist = false;
    try {
      const spec = await chooseTransport(deps, beginning.spec(row, world));
      lock.assertHeld();
      mayExist = true;
      await createJob(deps, spec);
    } catch (error) {
      throw await recordRefusal(deps, row, { error, mayExist });
    }
    // The Job locks the world now. If this write fails the reconcile repeats it.
    await markRunning(deps.db, row.job).catch(() => {});
    return row;
  } finally {
    await lock.release();
  }
}

async function writeRow(
  deps: Pick<StorageDeps, "db">,
  beginning: JobRequest,
  world: WorldServer,
): Promise<JobRow> {
  try {
    return await deps.db.transaction().execute(async (trx) => {
      const row = await beginning.admit(trx, world);
      const entry = beginning.audit && auditRow("storage", beginning.audit(row)).body;
      return insertJob(trx, { ...row, ...(entry !== undefined && { audit: entry }) });
    });
  } catch (error) {
    const isTaken = ["world_jobs_one_at_a_time", "world_jobs_one_chain"].some((one) => violates(error, one));
    throw isTaken ? new Fault("maintenance_in_progress", { cause: error }) : error;
  }
}

/**
 * Every Job is made here, on its node (docs/reference/moves.md#pins); throws `unavailable` when nothing that can be trusted
 * says which one that is. An existing Job of this name was created by us before. Its Secret is created after it, so that the Job owns the Secret
 * from the start: a crash in between leaves no Secret behind, but a Job whose pod waits (`unblockJob`).
 */
export async function createJob(deps: ClusterDeps, spec: JobSpec | PlacedJobSpec): Promise<void> {
  const placed = "pin" in spec ? spec : await placeJob(deps, spec);
  const job = worldJob(deps.settings, { ...placed, traceparent: deps.traceparent?.() });
  const made = await ignoreConflict(deps.kube.create(resources.jobs, job));
  if (!made || !spec.secret) return;
  try {
    await ignoreConflict(deps.kube.create(resources.secrets, secretOfJob(made, spec.secret)));
  } catch (error) {
    await deleteJob(deps, made);
    throw error;
  }
}

/**
 * Unblocks a Job whose creator died before it created its Secret: with an empty one it starts and fails at once. An
 * existing Secret stays; storage may create Secrets, but neither read nor change them.
 */
export async function unblockJob({ kube }: Pick<ClusterDeps, "kube">, job: Job): Promise<void> {
  await ignoreConflict(kube.create(resources.secrets, secretOfJob(job, {})));
}

/** Undefined when an object of that name already existed. */
export async function ignoreConflict<T>(made: Promise<T>): Promise<T | undefined> {
  return made.catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
    return undefined;
  });
}

// Its pod would wait for a Secret that never comes; if this fails too, the reconcile unblocks it.
async function deleteJob({ kube }: ClusterDeps, { metadata: { name, namespace, uid } }: Job): Promise<void> {
  const target = { name, ...(namespace && { namespace }) };
  const options = { ...(uid && { uid }), propagationPolicy: "Background" } as const;
  await kube.remove(resources.jobs, target, options).catch(() => undefined);
}

// If the cluster did not answer when it was made, the Job may exist: the reconcile finds out. A rejection is final.
async function recordRefusal(
  deps: Pick<StorageDeps, "db" | "log" | "now">,
  { job }: JobRow,
  { error, mayExist }: { error: unknown; mayExist: boolean },
): Promise<Fault> {
  const isUnavailable = isFault(error) && error.fault === "unavailable";
  if (isUnavailable && mayExist) return error;
  const message = `the job could not be created: ${(error as Error).message}`;
  deps.log.warn({ job, error: message }, "world job not started");
  await rejectJob(deps.db, job, { message, at: new Date(deps.now()) }).catch(() => {});
  if (isUnavailable) return error;
  return new Fault("unavailable", { message: "The cluster rejected the job; try again.", cause: error });
}
