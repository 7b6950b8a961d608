// How an operation gets its Job: under the lock of the world, which is kept until the Job is there.

import { type files, isFault } from "@svc/proto";
import type { Task } from "@svc/world";
import type { Hold } from "@svc/world-lock";
import type { WorldServer } from "../job/world.ts";
import type { TransferDeps } from "./deps.ts";
import { opKey } from "./op.ts";
import { createFileJob } from "./world.ts";

export type Launch = {
  op: files.StoredFileOp;
  revision: number;
  hold: Hold;
  world: WorldServer;
};

/** Writes the operation down; from now on it has an end, whatever becomes of this process. */
export async function writeOp(deps: TransferDeps, op: files.StoredFileOp): Promise<number> {
  const ttlMs = deps.settings.storage.file_op_deadline + deps.settings.storage.file_op_kept;
  const revision = await deps.ops.create(opKey(op), op, { ttlMs });
  if (revision === undefined) throw new Error(`the operation ${op.id} is there already`);
  return revision;
}

/** True when the cluster did not answer: the Job may be there, and the looks at operations find out. */
export function isInDoubt(error: unknown): boolean {
  return isFault(error) && error.fault === "unavailable";
}

/** Makes the Job and lets the world go to it. */
export async function launch(
  deps: TransferDeps,
  { op, revision, hold, world }: Launch,
  job: { task: Task; secretEnv?: Record<string, string> },
): Promise<void> {
  const { file_op_deadline: deadlineMs, file_op_kept: ttlMs } = deps.settings.storage;
  hold.assertHeld();
  await createFileJob(deps, world, { ...job, name: op.job, deadlineMs, ttlMs });
  // When this is lost the Job is found all the same.
  await deps.ops.update(opKey(op), { ...op, preparing_at: 0 }, revision, { ttlMs: deadlineMs + ttlMs });
}
