// Starts the Job of an operation, under the lock of the world, which is kept until the Job exists.

import type { Context } from "@svc/mesh";
import type { AnyContract, files } from "@svc/proto";
import type { Task } from "@svc/proto/world-task";
import type { HeldLock } from "@svc/world-lock";
import type { JobSecret } from "../job/spec.ts";
import type { WorldServer } from "../job/world.ts";
import { admitChange, type Change, endingOfStart, recordEnding } from "./change.ts";
import type { FileDeps } from "./deps.ts";
import { opKey } from "./op.ts";
import { createFileJob } from "./open-world.ts";

export type Launch = {
  op: files.StoredFileOp;
  revision: number;
  lock: HeldLock;
  world: WorldServer;
};

/** Records the operation; from now on it will end, whatever happens to this process. */
async function writeOp(deps: Pick<FileDeps, "settings" | "ops">, op: files.StoredFileOp): Promise<number> {
  const ttlMs = deps.settings.storage.file_op_deadline + deps.settings.storage.file_op_kept;
  const revision = await deps.ops.create(opKey(op), op, { ttlMs });
  if (revision === undefined) throw new Error(`the operation ${op.id} already exists`);
  return revision;
}

type Requester = Pick<Context<AnyContract>, "principal" | "client" | "requestId">;

/** Records who requested an operation and what it changes, and the operation itself. */
export async function admitOp(
  deps: Pick<FileDeps, "db" | "settings" | "now" | "ops">,
  context: Requester,
  { op, change }: { op: files.StoredFileOp; change: Change },
): Promise<number> {
  await admitChange(deps.db, context, { job: op.job, server: op.server, op: op.id, change, now: deps.now() });
  try {
    return await writeOp(deps, op);
  } catch (error) {
    await recordFailedStart(deps, op, error);
    throw error;
  }
}

/**
 * Records that an operation failed before its Job existed. False when the cluster did not answer: then the Job may exist,
 * and the reconcile of operations finds out.
 */
export async function recordFailedStart(
  deps: Pick<FileDeps, "db">,
  { job }: Pick<files.StoredFileOp, "job">,
  error: unknown,
): Promise<boolean> {
  const ending = endingOfStart(error);
  if (ending) await recordEnding(deps.db, job, ending).catch(() => {});
  return ending !== undefined;
}

/** Creates the Job, which locks the world from then on. */
export async function launch(
  deps: Pick<FileDeps, "kube" | "settings" | "ops">,
  { op, revision, lock, world }: Launch,
  job: { task: Task; secret?: JobSecret },
): Promise<void> {
  const { file_op_deadline: deadlineMs, file_op_kept, job_unnoted_ttl } = deps.settings.storage;
  lock.assertHeld();
  await createFileJob(deps, world, { ...job, name: op.job, deadlineMs, ttlMs: job_unnoted_ttl });
  // If this write is lost the Job is found anyway.
  const ttlMs = deadlineMs + file_op_kept;
  await deps.ops.update(opKey(op), { ...op, preparing_at: 0 }, revision, { ttlMs });
}
