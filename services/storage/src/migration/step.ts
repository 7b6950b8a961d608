// One look at one move. Every effect may be repeated and may be the last of its process; the state changes only when
// what the state stands for has come about.
//
// backing_up -> restoring   the archive is whole and its row written
// restoring  -> switching   every file of the archive is in the new volume, compared
// switching  -> succeeded   the server names the new node and volume, and its lock is gone, by one write
// any        -> failed      the Job said so, or somebody disturbed the world; the lock stays, the source is kept

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { isKubeError, type Job, resources } from "@svc/kube";
import { isFault, worlds } from "@svc/proto";
import { expiryOf } from "../backup/policy.ts";
import { createJob } from "../job/begin.ts";
import { logDepsOf, placeOf, type StorageDeps } from "../job/deps.ts";
import { type Outcome, readOutcome } from "../job/outcome.ts";
import { type JobWish, worldJob } from "../job/spec.ts";
import { findWorld } from "../job/world.ts";
import { holdsLock } from "./begin.ts";
import { identityOf, isOnline, whyNoTarget } from "./node.ts";
import type { MigrationRow } from "./row.ts";
import { advance, dropUnlocked, fail, findCarrier, markLocked, recordCarrier, succeed } from "./store.ts";
import { claimLike, findPlaced } from "./volume.ts";
import { backupWish, carrierName, jobOf, restoreWish } from "./wish.ts";

class Disturbed extends Error {
  override name = "Disturbed";
}

export async function stepOne(deps: StorageDeps, row: MigrationRow): Promise<void> {
  if (row.locked_at === null) return findLock(deps, row);
  try {
    if (row.state === "backing_up") return await backUp(deps, row);
    if (row.state === "restoring") return await restore(deps, row);
    if (row.state === "switching") return await switchOver(deps, row);
  } catch (error) {
    // What the cluster refuses for good is not asked for again and again.
    const isRefused = isKubeError(error, 403) || isKubeError(error, 422);
    if ((error as Error).name !== "Disturbed" && !isRefused) throw error;
    await giveUp(deps, row, (error as Error).message);
  }
}

/** A begin that died between its row and its answer: the lock tells whether anything was begun. */
async function findLock(deps: StorageDeps, row: MigrationRow): Promise<void> {
  if (await holdsLock(deps, row)) return void (await markLocked(deps.db, row, new Date(deps.now())));
  const isOld = deps.now() - row.started_at.getTime() > deps.settings.storage.move_start_patience;
  if (isOld) await dropUnlocked(deps.db, row.id);
}

async function giveUp(deps: StorageDeps, row: MigrationRow, message: string): Promise<void> {
  if (!(await fail(deps.db, row, { message, now: new Date(deps.now()) }))) return;
  deps.log.warn(
    { server: row.server_name, migration: row.id, stage: row.stage, error: message },
    "a move failed",
  );
}

/** Quiet, locked by us, and both ends where they were. */
async function assertUndisturbed(deps: StorageDeps, row: MigrationRow): Promise<void> {
  const world = await findWorld(deps, row.server_name);
  if (!world) throw new Disturbed("the server is gone");
  if (!(await holdsLock(deps, row))) throw new Disturbed("the lock of the move was taken away");
  if (!world.stopped) throw new Disturbed("the server was started");
  if (world.volume_claim !== row.source_claim)
    throw new Disturbed("the server's world is another volume now");
  const [{ items: nodes }, placed] = await Promise.all([
    deps.kube.list(resources.nodes),
    findPlaced(deps, row.source_claim),
  ]);
  if (whyNoTarget(nodes, row.target_node))
    throw new Disturbed(`the node ${row.target_node} cannot take worlds now`);
  if (placed?.uid !== row.source_claim_uid)
    throw new Disturbed("the world's volume is not the one of before");
  if (!placed.home || identityOf(placed.home) !== row.source_node)
    throw new Disturbed("the world's volume was moved");
  if (!isOnline(placed.home)) throw new Disturbed(`the node ${row.source_node} is offline`);
}

async function backUp(deps: StorageDeps, row: MigrationRow): Promise<void> {
  await assertUndisturbed(deps, row);
  const outcome = await runJob(deps, backupWish(row, deps.settings));
  if (!outcome) return;
  const { size_bytes, sha256, skipped_entries = 0 } = doneOf(outcome);
  if (size_bytes === undefined || sha256 === undefined)
    throw new Disturbed("the backup told no size and digest");
  const { archive } = deps.settings;
  const at = new Date(deps.now());
  const isNew = await recordCarrier(deps.db, row, {
    id: `bk-${randomBytes(16).toString("hex")}`,
    server_name: row.server_name,
    former_owner: row.owner_id,
    backup_ref: join(archive.local_path, carrierName(row, archive.compression)),
    size_bytes,
    sha256,
    skipped_entries,
    reason: "pre_restore",
    created_at: at,
    expires_at: expiryOf("pre_restore", at, archive),
    verified_at: at,
    // Nothing deletes it while the move needs it.
    pinned_at: at,
    job: jobOf(row, "backup"),
  });
  if (isNew) deps.metrics.counted("made", "pre_restore");
}

async function restore(deps: StorageDeps, row: MigrationRow): Promise<void> {
  await assertUndisturbed(deps, row);
  const backup = await findCarrier(deps.db, row);
  if (!backup || backup.corrupt_at)
    throw new Disturbed("the backup that carries the world is gone or corrupt");
  await ensureTarget(deps, row);
  const outcome = await runJob(deps, restoreWish(row, backup, deps.settings));
  if (!outcome) return;
  doneOf(outcome);
  await advance(deps.db, row, { from: "restoring", to: "switching", now: new Date(deps.now()) });
}

async function ensureTarget(deps: StorageDeps, row: MigrationRow): Promise<void> {
  const target = { name: row.target_claim, ...placeOf(deps) };
  if (await deps.kube.find(resources.claims, target)) return;
  const source = await deps.kube.get(resources.claims, { name: row.source_claim, ...placeOf(deps) });
  const claim = claimLike(source, row.target_claim, row.server_name);
  await deps.kube.create(resources.claims, claim).catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
}

async function switchOver(deps: StorageDeps, row: MigrationRow): Promise<void> {
  if (!(await areJobsGone(deps, row))) return;
  const placed = await findPlaced(deps, row.target_claim);
  if (!placed?.home || identityOf(placed.home) !== row.target_node) {
    throw new Disturbed(`the new volume does not lie on ${row.target_node}`);
  }
  const { server_name: name, lock, target_node: node_name, target_claim: volume_claim } = row;
  await deps.mesh
    .call(worlds.switchWorld, { name, lock, node_name, volume_claim })
    .catch((error: unknown) => {
      if (!isFault(error) || error.fault === "unavailable" || error.fault === "overloaded") throw error;
      throw new Disturbed(`the server was not switched over: ${error.message}`);
    });
  if (!(await succeed(deps.db, row, new Date(deps.now())))) return;
  const payload = { migration: row.id, from: row.source_node, to: row.target_node };
  const who = { actor: row.started_by, source: "internal:storage" };
  deps.mesh.audit({ ...who, action: "world.migrated", server_name: name, payload });
  deps.log.info({ server: name, ...payload }, "a world was moved");
}

/** Undefined while it runs. A Job that nobody sees any more is made again and does its work anew. */
async function runJob(deps: StorageDeps, wish: JobWish): Promise<Outcome | undefined> {
  const job = await deps.kube.find(resources.jobs, { name: wish.name, ...placeOf(deps) });
  if (job) return readOutcome(logDepsOf(deps), job);
  await createJob(deps, worldJob(deps.settings, wish));
  return undefined;
}

function doneOf(outcome: Outcome) {
  if (outcome.kind === "done") return outcome.done;
  throw new Disturbed(outcome.kind === "broken" ? outcome.message : outcome.fault.message);
}

/** Nothing may still write to the new volume when a server is let in. */
async function areJobsGone(deps: StorageDeps, row: MigrationRow): Promise<boolean> {
  const names = (["backup", "restore"] as const).map((step) => jobOf(row, step));
  for (const name of names) await removeJob(deps, name);
  const selector = `job-name in (${names.join(",")})`;
  const { items } = await deps.kube.list(resources.pods, { ...placeOf(deps), labelSelector: selector });
  return items.length === 0;
}

async function removeJob(deps: StorageDeps, name: Job["metadata"]["name"]): Promise<void> {
  await deps.kube
    .remove(resources.jobs, { name, ...placeOf(deps) }, { propagationPolicy: "Background" })
    .catch((error: unknown) => {
      if (!isKubeError(error, 404)) throw error;
    });
}
