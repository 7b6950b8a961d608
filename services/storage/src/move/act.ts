// Carries out the plan of a move.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { resources } from "@svc/kube";
import { isFault, worlds } from "@svc/proto";
import { expiryOf } from "../backup/policy.ts";
import { archiveNameOf } from "../backup/row.ts";
import type { BackupRow } from "../database/tables.ts";
import type { MoveRow } from "../database/world-migrations.ts";
import { type ClusterDeps, inNamespace, type StorageDeps } from "../deps.ts";
import { issueTicket, revokeTickets } from "../job/archive-ticket.ts";
import { createJob, ignoreConflict } from "../job/begin.ts";
import { newArchiveName } from "../job/names.ts";
import type { Plan } from "./decide.ts";
import { endJobs } from "./end-jobs.ts";
import { jobName, jobNames, sourceJobSpec, targetJobSpec } from "./job-spec.ts";
import { advance, deleteUnlocked, fail, markLocked, recordMoveBackup, succeed } from "./store.ts";
import { claimLike } from "./target-claim.ts";

export async function actOnMove(deps: StorageDeps, row: MoveRow, plan: Plan): Promise<void> {
  const now = new Date(deps.now());
  if (plan.action === "note-lock") await markLocked(deps.db, row, now);
  if (plan.action === "delete-unlocked") await deleteUnlocked(deps.db, row.id);
  if (plan.action === "start-backup") await startBackup(deps, row);
  if (plan.action === "record-backup") await recordArchive(deps, row, plan);
  if (plan.action === "prepare-target") await prepareTarget(deps, row, plan.restoreFrom);
  if (plan.action === "advance") await advance(deps.db, row, { from: "restoring", to: "switching", now });
  if (plan.action === "end-jobs") await endJobs(deps, row);
  if (plan.action === "switch") await switchServer(deps, row);
  if (plan.action === "fail") await failMove(deps, row, plan.message);
}

export async function failMove(
  deps: Pick<StorageDeps, "db" | "settings" | "log" | "now">,
  row: MoveRow,
  message: string,
): Promise<void> {
  if (!(await fail(deps.db, row, { message, now: new Date(deps.now()) }))) return;
  // The next attempt has its own Jobs and cannot use what these still send or fetch.
  await revokeTickets(deps, jobNames(row));
  deps.log.warn(
    { server: row.server_name, migration: row.id, stage: row.stage, error: message },
    "move failed",
  );
}

/** A deleted Job is created again and repeats its work. */
async function startBackup(deps: StorageDeps, row: MoveRow): Promise<void> {
  const archive = newArchiveName(row.server_name, deps.now(), "zstd");
  const ticket = await issueTicket(deps, { kind: "put", job: jobName(row, "backup"), archive });
  await createJob(deps, sourceJobSpec(row, ticket, deps.settings));
}

async function recordArchive(
  deps: StorageDeps,
  row: MoveRow,
  { receipt, skippedEntries }: Extract<Plan, { action: "record-backup" }>,
): Promise<void> {
  const at = new Date(deps.now());
  const isNew = await recordMoveBackup(deps.db, row, {
    id: `bk-${randomBytes(16).toString("hex")}`,
    server_name: row.server_name,
    former_owner: row.owner_id,
    backup_ref: join(deps.settings.archive.local_path, receipt.archive),
    size_bytes: receipt.size_bytes,
    sha256: receipt.sha256,
    skipped_entries: skippedEntries,
    reason: "pre_restore",
    created_at: at,
    expires_at: expiryOf("pre_restore", at, deps.settings.archive),
    verified_at: at,
    // Nothing deletes it while the move needs it.
    pinned_at: at,
    job: jobName(row, "backup"),
  });
  if (isNew) deps.metrics.counted("made", "pre_restore");
}

async function prepareTarget(
  deps: StorageDeps,
  row: MoveRow,
  restoreFrom: BackupRow | undefined,
): Promise<void> {
  await ensureTarget(deps, row);
  if (!restoreFrom) return;
  const job = jobName(row, "restore");
  const ticket = await issueTicket(deps, { kind: "get", job, archive: archiveNameOf(restoreFrom) });
  await createJob(deps, targetJobSpec(row, { backup: restoreFrom, ticket }, deps.settings));
}

async function ensureTarget(deps: ClusterDeps, row: MoveRow): Promise<void> {
  const target = { name: row.target_claim, ...inNamespace(deps) };
  if (await deps.kube.find(resources.claims, target)) return;
  const source = await deps.kube.get(resources.claims, { name: row.source_claim, ...inNamespace(deps) });
  const claim = claimLike(source, row.target_claim, row.server_name);
  await ignoreConflict(deps.kube.create(resources.claims, claim));
}

async function switchServer(deps: StorageDeps, row: MoveRow): Promise<void> {
  const { server_name: name, lock, target_node: node_name, target_claim: volume_claim } = row;
  try {
    await deps.mesh.call(worlds.switchWorld, { name, lock, node_name, volume_claim });
  } catch (error) {
    if (!isFault(error) || error.fault === "unavailable" || error.fault === "overloaded") throw error;
    return failMove(deps, row, `the server could not be switched: ${error.message}`);
  }
  if (!(await succeed(deps.db, row, new Date(deps.now())))) return;
  await revokeTickets(deps, jobNames(row));
  const payload = { migration: row.id, from: row.source_node, to: row.target_node };
  deps.log.info({ server: name, ...payload }, "world moved");
}
