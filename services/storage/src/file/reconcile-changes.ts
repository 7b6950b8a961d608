// Records the outcome of file changes that no request waits for any more: of replicas that died, of waits that ended before
// the Job. Every replica does; each change is recorded once.

import { resources } from "@svc/kube";
import type { Wake } from "@svc/store/wake";
import type { FileChangeRow } from "../database/tables.ts";
import { inNamespace, logDepsOf } from "../deps.ts";
import { type Outcome, readOutcome } from "../job/outcome.ts";
import { shortenTtl } from "../job/shorten-ttl.ts";
import { endingOf, recordEnding } from "./change.ts";
import type { FileDeps } from "./deps.ts";
import { opKey } from "./op.ts";

const maxRows = 500;

/** One round; what fails is retried in the next one. Returns whether there are changes without an outcome. */
async function reconcileChanges(deps: FileDeps): Promise<boolean> {
  const rows = await deps.db
    .selectFrom("file_changes")
    .selectAll()
    .orderBy("started_at")
    .limit(maxRows)
    .execute();
  for (const row of rows) {
    if (deps.attended.has(row.job)) continue;
    await reconcileChange(deps, row).catch((error: Error) =>
      deps.log.warn({ job: row.job, error: error.message }, "file change reconcile failed; retrying"),
    );
  }
  return rows.length > 0;
}

async function reconcileChange(
  deps: Pick<FileDeps, "kube" | "db" | "settings" | "now" | "ops">,
  row: FileChangeRow,
): Promise<void> {
  const job = await deps.kube.find(resources.jobs, { name: row.job, ...inNamespace(deps) });
  const outcome = job ? await readOutcome(logDepsOf(deps), job) : await missing(deps, row);
  if (!outcome) return;
  await recordEnding(deps.db, row.job, endingOf(outcome));
  // The reconcile of operations reads the Job, too.
  const { file_op_kept, job_ttl } = deps.settings.storage;
  if (job) await shortenTtl(deps, row.job, row.op === null ? job_ttl : file_op_kept);
}

// A Job that was never created and one that is gone look the same, so the outcome is unknown.
async function missing(
  deps: Pick<FileDeps, "settings" | "now" | "ops">,
  row: FileChangeRow,
): Promise<Outcome | undefined> {
  const { start_patience } = deps.settings.storage;
  if (deps.now() - row.started_at.getTime() < start_patience) return undefined;
  if (row.op !== null) {
    const entry = await deps.ops.get(opKey({ server: row.server_name, id: row.op }));
    if (entry?.value.state === "running" && entry.value.preparing_at > 0) return undefined;
  }
  return { kind: "broken", message: "the job does not exist" };
}

export function startChangeReconcile(deps: FileDeps, wake: Wake): void {
  const { file_op_settle: everyMs, idle_interval: idleMs } = deps.settings.storage;
  const pause = { everyMs, idle: { everyMs: idleMs, wake } };
  deps.background.every("reconcile file changes", pause, () => reconcileChanges(deps));
}
