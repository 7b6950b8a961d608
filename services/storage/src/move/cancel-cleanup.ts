// Cleans up a cancelled move. Every step may be repeated, and the process may die after any. The source is authoritative
// until the switch, so it is not touched. The lock is released when nothing accesses the world any more, and the new volume
// is deleted after it: without the lock no switch can happen that would make the new volume authoritative.

import { isKubeError, resources } from "@svc/kube";
import { lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import type { MoveRow } from "../database/world-migrations.ts";
import { type ClusterDeps, inNamespace, type StorageDeps } from "../deps.ts";
import { revokeTickets } from "../job/archive-ticket.ts";
import { label } from "../job/names.ts";
import { findWorld } from "../job/world.ts";
import { endJobs } from "./end-jobs.ts";
import { jobNames } from "./job-spec.ts";
import { endCancelled, undoCancel } from "./store.ts";

export async function cleanUpCancelled(deps: StorageDeps, row: MoveRow): Promise<void> {
  if (!(await endJobs(deps, row))) return;
  if (!(await releaseLock(deps, row))) return;
  const world = await findWorld(deps, row.server_name);
  // The switch had succeeded before the cancellation, and its response was lost.
  if (world?.volume_claim === row.target_claim) return undoCancel(deps.db, row, new Date(deps.now()));
  await revokeTickets(deps, jobNames(row));
  // Whether a deleted server had switched is unknown: the new volume may be its world.
  if (world || row.stage !== "switching") await removeTarget(deps, row);
  if (!(await endCancelled(deps.db, row, new Date(deps.now())))) return;
  deps.log.info({ server: row.server_name, migration: row.id, by: row.cancelled_by }, "move cancelled");
}

/** Releases our lock; false on a concurrent change of the server, so that the next round retries. */
async function releaseLock(deps: ClusterDeps, { server_name, lock }: MoveRow): Promise<boolean> {
  const target = { name: server_name, ...inNamespace(deps) };
  const server = await deps.kube.find(lockedServers, target);
  if (server?.metadata.annotations?.[maintenanceAnnotation] !== lock) return true;
  const { resourceVersion } = server.metadata;
  const merge = { metadata: { resourceVersion, annotations: { [maintenanceAnnotation]: null } } };
  try {
    await deps.kube.patch(lockedServers, target, { merge });
    return true;
  } catch (error) {
    if (isKubeError(error, 404)) return true;
    if (isKubeError(error, 409)) return false;
    throw error;
  }
}

/** Deletes the incomplete copy; a claim of that name that does not belong to this move stays. */
async function removeTarget(deps: ClusterDeps, row: MoveRow): Promise<void> {
  const target = { name: row.target_claim, ...inNamespace(deps) };
  const claim = await deps.kube.find(resources.claims, target);
  if (!claim || claim.metadata.labels?.[label.server] !== row.server_name) return;
  if (row.target_claim === row.source_claim) return;
  const { uid = "" } = claim.metadata;
  await deps.kube.remove(resources.claims, target, { uid }).catch((error: unknown) => {
    if (!isKubeError(error, 404) && !isKubeError(error, 409)) throw error;
  });
}
