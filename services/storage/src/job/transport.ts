// A Job runs on the node of its world. When the archive folder is on another node it cannot be mounted there: then the
// archive is sent over the internal face with a ticket (docs/reference/moves.md#tickets).

import { isKubeError } from "@svc/kube";
import type { Place } from "@svc/proto/world-task";
import type { ClusterDeps, StorageDeps } from "../deps.ts";
import { nodeIdentity } from "../volume/node.ts";
import { findPlacedClaim } from "../volume/placed-claim.ts";
import { issueTicket } from "./archive-ticket.ts";
import type { JobSpec } from "./spec.ts";

/** The Job as it can run: with the archive folder mounted, or with a ticket in its place. */
export async function chooseTransport(
  deps: Pick<StorageDeps, "kube" | "db" | "settings" | "now">,
  spec: JobSpec,
): Promise<JobSpec> {
  const { task, world, archive: mount, ...rest } = spec;
  const location = archiveLocationIn(task);
  if (!world || !mount || location?.kind !== "archive") return spec;
  if (!(await isOnAnotherNode(deps, { claim: world.claim, node: spec.node }))) return spec;
  const kind = task.mode === "backup" ? "put" : "get";
  const ticket = await issueTicket(deps, { kind, job: spec.name, archive: location.name });
  const secret = { ...spec.secret, ...ticket.secret };
  const sent = task.mode === "backup" ? { ...task, to: ticket.place } : { ...task, from: ticket.place };
  return { ...rest, world, secret, task: sent as JobSpec["task"] };
}

function archiveLocationIn(task: JobSpec["task"]): Place | undefined {
  if (task.mode === "backup") return task.to;
  const isReader = task.mode === "restore" || task.mode === "verify" || task.mode === "plan";
  return isReader ? task.from : undefined;
}

/** Whether each is bound to one node, or the Job is to run on one, and the nodes differ. */
async function isOnAnotherNode(
  deps: ClusterDeps,
  { claim, node }: { claim: string; node: string | undefined },
): Promise<boolean> {
  const { internal_url, archive_claim } = deps.settings.storage;
  if (internal_url === "") return false;
  try {
    const [world, archive] = await Promise.all([
      findPlacedClaim(deps, claim),
      findPlacedClaim(deps, archive_claim),
    ]);
    const worldNode = node ?? (world?.node && nodeIdentity(world.node));
    if (worldNode === undefined || !archive?.node) return false;
    return worldNode !== nodeIdentity(archive.node);
  } catch (error) {
    // Without the ClusterRole `svc-storage-moves` storage cannot read nodes, and there is only one.
    if (isKubeError(error, 403)) return false;
    throw error;
  }
}
