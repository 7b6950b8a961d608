// One look at one move. Every effect may be repeated and may be the last of its process; the state changes only when
// what the state stands for has come about.
//
// backing_up -> restoring   the archive folder has the archive (its receipt says so), and its row is written
// restoring  -> switching   every file of the archive is in the new volume, compared
// switching  -> succeeded   the server names the new node and volume, and its lock is gone, by one write
// any        -> failed      the Job said so, or somebody disturbed the world; the lock stays, the source is kept
// Until the switch a move can be given up (cancel.ts); what that leaves to do is done here, too.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { isKubeError, type Job, resources } from "@svc/kube";
import { isFault, worlds } from "@svc/proto";
import { expiryOf } from "../backup/policy.ts";
import { archiveNameOf } from "../backup/row.ts";
import type { MoveRow } from "../database/world-migrations.ts";
import { type ClusterDeps, inNamespace, logDepsOf, type StorageDeps } from "../deps.ts";
import { issueTicket, revokeTickets } from "../job/archive-ticket.ts";
import { findReceipt, type Receipt } from "../job/archive-ticket-store.ts";
import { createJob } from "../job/begin.ts";
import { newArchiveName } from "../job/names.ts";
import { type Outcome, readOutcome } from "../job/outcome.ts";
import type { JobSpec } from "../job/spec.ts";
import { findWorld } from "../job/world.ts";
import { findTargetFault, isOnline, nodeIdentity } from "../volume/node.ts";
import { findPlacedClaim } from "../volume/placed-claim.ts";
import { holdsLock } from "./begin.ts";
import { endJobs } from "./end-jobs.ts";
import { jobName, jobNames, sourceJobSpec, targetJobSpec } from "./job-spec.ts";
import {
  advance,
  deleteUnlocked,
  fail,
  findMoveBackup,
  markLocked,
  recordMoveBackup,
  succeed,
} from "./store.ts";
import { claimLike } from "./target-claim.ts";

class Disturbed extends Error {
  override name = "Disturbed";
}

export async function stepMove(deps: StorageDeps, row: MoveRow): Promise<void> {
  if (row.locked_at === null) return findLock(deps, row);
  try {
    if (row.state === "backing_up") return await backUp(deps, row);
    if (row.state === "restoring") return await restore(deps, row);
    if (row.state === "switching") return await switchOver(deps, row);
  } catch (error) {
    // What the cluster refuses for good is not asked for again and again.
    const isRefused = isKubeError(error, 403) || isKubeError(error, 422);
    if ((error as Error).name !== "Disturbed" && !isRefused) throw error;
    await failMove(deps, row, (error as Error).message);
  }
}

/** A begin that died between its row and its answer: the lock tells whether anything was begun. */
async function findLock(
  deps: Pick<StorageDeps, "kube" | "db" | "settings" | "now">,
  row: MoveRow,
): Promise<void> {
  if (await holdsLock(deps, row)) return void (await markLocked(deps.db, row, new Date(deps.now())));
  const isOld = deps.now() - row.started_at.getTime() > deps.settings.storage.move_start_patience;
  if (isOld) await deleteUnlocked(deps.db, row.id);
}

async function failMove(
  deps: Pick<StorageDeps, "db" | "settings" | "log" | "now">,
  row: MoveRow,
  message: string,
): Promise<void> {
  if (!(await fail(deps.db, row, { message, now: new Date(deps.now()) }))) return;
  // The next attempt has Jobs of its own; what these still send or would fetch is of no use to it.
  await revokeTickets(deps, jobNames(row));
  deps.log.warn(
    { server: row.server_name, migration: row.id, stage: row.stage, error: message },
    "move failed",
  );
}

/** Quiet, locked by us, and both ends where they were. */
async function assertUndisturbed(
  deps: Pick<StorageDeps, "kube" | "mesh" | "settings">,
  row: MoveRow,
): Promise<void> {
  const world = await findWorld(deps, row.server_name);
  if (!world) throw new Disturbed("the server is gone");
  if (!(await holdsLock(deps, row))) throw new Disturbed("the lock of the move was removed");
  if (!world.stopped) throw new Disturbed("the server was started");
  if (world.volume_claim !== row.source_claim) throw new Disturbed("the server now uses another volume");
  const [{ items: nodes }, placed] = await Promise.all([
    deps.kube.list(resources.nodes),
    findPlacedClaim(deps, row.source_claim),
  ]);
  if (findTargetFault(nodes, row.target_node))
    throw new Disturbed(`the node ${row.target_node} cannot take worlds at the moment`);
  if (placed?.uid !== row.source_claim_uid) throw new Disturbed("the world's volume was replaced");
  if (!placed.node || nodeIdentity(placed.node) !== row.source_node)
    throw new Disturbed("the world's volume was moved");
  if (!isOnline(placed.node)) throw new Disturbed(`the node ${row.source_node} is offline`);
}

async function backUp(deps: StorageDeps, row: MoveRow): Promise<void> {
  await assertUndisturbed(deps, row);
  const name = jobName(row, "backup");
  const job = await findJobOf(deps, name);
  const receipt = await findReceipt(deps.db, name);
  if (!job && !receipt) {
    const archive = newArchiveName(row.server_name, deps.now(), "zstd");
    const ticket = await issueTicket(deps, { kind: "put", job: name, archive });
    return makeJob(deps, sourceJobSpec(row, ticket, deps.settings));
  }
  const outcome = job && (await readOutcome(logDepsOf(deps), job));
  if (job && !outcome) return;
  // What the Job says after its receipt changes nothing: the archive is whole.
  if (!receipt) throw new Disturbed(failureOf(outcome) ?? "the archive did not arrive");
  const done = outcome?.kind === "done" ? outcome.done : undefined;
  if (done?.unreadable_entries)
    throw new Disturbed(
      `${done.unreadable_entries} files of the world cannot be read: ${done.skipped_names?.join(", ") ?? ""}`.slice(
        0,
        500,
      ),
    );
  await record(deps, row, { ...receipt, skipped: done?.skipped_entries ?? 0 });
}

async function record(
  deps: Pick<StorageDeps, "db" | "settings" | "metrics" | "now">,
  row: MoveRow,
  { archive, size_bytes, sha256, skipped }: Receipt & { skipped: number },
): Promise<void> {
  const at = new Date(deps.now());
  const isNew = await recordMoveBackup(deps.db, row, {
    id: `bk-${randomBytes(16).toString("hex")}`,
    server_name: row.server_name,
    former_owner: row.owner_id,
    backup_ref: join(deps.settings.archive.local_path, archive),
    size_bytes,
    sha256,
    skipped_entries: skipped,
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

async function restore(deps: StorageDeps, row: MoveRow): Promise<void> {
  await assertUndisturbed(deps, row);
  const backup = await findMoveBackup(deps.db, row);
  if (!backup || backup.corrupt_at) throw new Disturbed("the backup of this move is gone or corrupt");
  await ensureTarget(deps, row);
  const name = jobName(row, "restore");
  const job = await findJobOf(deps, name);
  if (!job) {
    const ticket = await issueTicket(deps, { kind: "get", job: name, archive: archiveNameOf(backup) });
    return makeJob(deps, targetJobSpec(row, { backup, ticket }, deps.settings));
  }
  const outcome = await readOutcome(logDepsOf(deps), job);
  if (!outcome) return;
  const why = failureOf(outcome);
  if (why !== undefined) throw new Disturbed(why);
  await advance(deps.db, row, { from: "restoring", to: "switching", now: new Date(deps.now()) });
}

async function ensureTarget(deps: ClusterDeps, row: MoveRow): Promise<void> {
  const target = { name: row.target_claim, ...inNamespace(deps) };
  if (await deps.kube.find(resources.claims, target)) return;
  const source = await deps.kube.get(resources.claims, { name: row.source_claim, ...inNamespace(deps) });
  const claim = claimLike(source, row.target_claim, row.server_name);
  await deps.kube.create(resources.claims, claim).catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
}

async function switchOver(deps: StorageDeps, row: MoveRow): Promise<void> {
  if (!(await endJobs(deps, row))) return;
  const placed = await findPlacedClaim(deps, row.target_claim);
  if (!placed?.node || nodeIdentity(placed.node) !== row.target_node) {
    throw new Disturbed(`the new volume is not on ${row.target_node}`);
  }
  const { server_name: name, lock, target_node: node_name, target_claim: volume_claim } = row;
  await deps.mesh
    .call(worlds.switchWorld, { name, lock, node_name, volume_claim })
    .catch((error: unknown) => {
      if (!isFault(error) || error.fault === "unavailable" || error.fault === "overloaded") throw error;
      throw new Disturbed(`the server could not be switched: ${error.message}`);
    });
  if (!(await succeed(deps.db, row, new Date(deps.now())))) return;
  await revokeTickets(deps, jobNames(row));
  const payload = { migration: row.id, from: row.source_node, to: row.target_node };
  const who = { actor: row.started_by, source: "internal:storage" };
  deps.mesh.audit({ ...who, action: "world.migrated", server_name: name, payload });
  deps.log.info({ server: name, ...payload }, "world moved");
}

function findJobOf(deps: ClusterDeps, name: string): Promise<Job | undefined> {
  return deps.kube.find(resources.jobs, { name, ...inNamespace(deps) });
}

/** A Job that nobody sees any more is made again and does its work anew. */
async function makeJob(deps: ClusterDeps, wish: JobSpec): Promise<void> {
  await createJob(deps, wish);
}

/** Why the Job did not do its work; undefined when it did. */
function failureOf(outcome: Outcome | undefined): string | undefined {
  if (outcome?.kind === "refused") return outcome.fault.message;
  return outcome?.kind === "broken" ? outcome.message : undefined;
}
