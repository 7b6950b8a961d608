// The last step of a reap: read the guard's evidence again, and delete the volume only when the guard agrees.

import { isFault, worlds } from "@svc/proto";
import { lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import type { BackupRow } from "../database/tables.ts";
import { inNamespace } from "../deps.ts";
import type { DueWorld } from "./due-world.ts";
import { assertMayDelete, type Evidence, type ReadBack } from "./guard.ts";
import { releaseServer } from "./release.ts";
import { count, countAndNote, type Run } from "./run.ts";
import { findBackupById } from "./store.ts";
import { type Claim, findClaim, recreateMovedClaim, removeClaim } from "./volume.ts";

type Proof = { backup: BackupRow; readBack: ReadBack; claim: Claim };

export async function deleteWorld(run: Run, due: DueWorld, proof: Proof): Promise<void> {
  const { deps } = run;
  const { name } = due.world;
  const backup = await findBackupById(deps.db, proof.backup.id);
  if (isOffsiteRequired(run) && backup?.status === "present" && !backup.offsite_at) {
    return count(run, "awaiting_offsite");
  }
  try {
    const evidence = await gather(run, due, { ...proof, backup });
    run.signal.throwIfAborted();
    assertMayDelete(evidence);
    await removeClaim(deps, evidence.claim);
  } catch (error) {
    if ((error as Error).name !== "WorldKept") throw error;
    return countAndNote(run, "skipped", `${name} stays: ${(error as Error).message}`);
  }
  run.metrics.worldDeleted();
  deps.log.info({ server: name, backup: proof.backup.id, run: run.id }, "world volume deleted");
  if (due.plan.outcome !== "deleted") await recreateMovedClaim(deps, due.world, proof.claim.object);
  await releaseServer(run, due, proof.backup);
}

function isOffsiteRequired({ deps }: Run): boolean {
  return deps.settings.offsite.bucket !== "";
}

async function gather(
  run: Run,
  { world, plan, lock }: DueWorld,
  proof: { backup: BackupRow | undefined; readBack: ReadBack; claim: Claim },
): Promise<Evidence> {
  const { deps } = run;
  const now = await deps.mesh.call(worlds.describeServer, { name: world.name }).catch((error: unknown) => {
    if (isFault(error) && error.fault === "not_found") return undefined;
    throw error;
  });
  const claim = await findClaim(deps, world.volume_claim);
  const lockState = await readLock(run, world.name, lock);
  return {
    run: run.id,
    readBack: proof.readBack,
    backup: proof.backup,
    world: now,
    decided: { owner: world.owner_id, outcome: plan.outcome, lastActiveAt: world.last_active_at },
    claim,
    lock: lockState,
    offsite: { isRequired: isOffsiteRequired(run) },
    now: deps.now(),
  };
}

const maxRefreshes = 3;

async function readLock({ deps }: Run, name: string, lock: DueWorld["lock"]): Promise<Evidence["lock"]> {
  for (let left = maxRefreshes; ; left--) {
    const before = lock.value;
    const server = await deps.kube.find(lockedServers, { name, ...inNamespace(deps) });
    const found = server?.metadata.annotations?.[maintenanceAnnotation];
    // The lock may have been refreshed while it was read.
    if (found !== lock.value && before !== lock.value && left > 0) continue;
    return { found, ours: lock.value, isHeld: isHeld(lock) };
  }
}

function isHeld(lock: DueWorld["lock"]): boolean {
  try {
    lock.assertHeld();
    return true;
  } catch {
    return false;
  }
}
