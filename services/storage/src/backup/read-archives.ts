// Reads archives by a Job, since only Jobs mount the archive folder.

import { Fault } from "@svc/proto";
import type { Place, Task, TaskDone, TaskFault } from "@svc/proto/world-task";
import type { BackupRow } from "../database/tables.ts";
import type { StorageDeps } from "../deps.ts";
import { runJob } from "../job/await.ts";
import { newJobName } from "../job/names.ts";
import { assertConfigured } from "../job/world.ts";
import { archiveNameOf } from "./row.ts";

/** Time reserved for cleanup and the answer. */
const answerMs = 2_000;

/** How long the caller waits. */
export type Waiting = { deadlineAt: number; signal: AbortSignal };
type Reading = {
  server: string;
  task: Task & { mode: "browse" | "compare" | "plan" };
  /** Volume claim of the world, where that is read too. */
  claim?: string;
};

/** Throws `backup_corrupt`, `not_found`, `bad_path`, and `unavailable` when the Job ends without an answer. */
export async function readArchives(
  deps: StorageDeps,
  context: Waiting,
  { server, task, claim }: Reading,
): Promise<TaskDone> {
  assertConfigured(deps);
  const spec = {
    name: newJobName(task.mode, server),
    server,
    manager: "svc-verify" as const,
    task,
    deadlineMs: deps.settings.storage.browse_deadline,
    archive: "ro" as const,
    ...(claim !== undefined && { world: { claim, mode: "ro" as const } }),
  };
  const timeoutMs = context.deadlineAt - Date.now() - answerMs;
  const outcome = await runJob(deps, spec, { timeoutMs, signal: context.signal });
  if (outcome.kind === "refused") throw refusal(outcome.fault);
  if (outcome.kind === "broken") throw new Fault("unavailable", { message: outcome.message });
  return outcome.done;
}

export function placeOf(row: BackupRow): Place {
  return { kind: "archive", name: archiveNameOf(row) };
}

function refusal({ code, message }: TaskFault): Fault {
  if (code === "not_found" || code === "bad_path") return new Fault(code, { message });
  // A folder in place of a file, or the other way round.
  if (code === "type_conflict") return new Fault("bad_path", { message });
  if (code === "transfer_failed") return new Fault("unavailable", { message });
  return new Fault("backup_corrupt", { message });
}
