// Where a Job runs (docs/reference/moves.md#pins): reads what its pin depends on.

import { isKubeError, resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type ClusterDeps, inNamespace } from "../deps.ts";
import { findBoundVolume, placeIn } from "../volume/placed-claim.ts";
import { decidePlacement, type Pin } from "./pin.ts";
import type { JobSpec, PlacedJobSpec } from "./spec.ts";

type Placed = { pin: Pin | undefined; sendsArchive: boolean };

/** The Job as it can run without a ticket. Throws `unavailable` when nothing that can be trusted says where. */
export async function placeJob(deps: ClusterDeps, spec: JobSpec): Promise<PlacedJobSpec> {
  return { ...spec, pin: (await findPlacement(deps, spec, false)).pin };
}

/** The pin of a pod that mounts one claim and belongs to no server. Throws `unavailable` as above. */
export async function findPinOf(deps: ClusterDeps, claim: string): Promise<Pin | undefined> {
  return (await findPlacement(deps, { server: "", world: { claim, mode: "rw" } }, false)).pin;
}

/** Throws `unavailable`, with what the operator can do, when nothing that can be trusted says where it runs. */
export async function findPlacement(
  deps: ClusterDeps,
  spec: Pick<JobSpec, "server" | "node" | "world" | "archive">,
  canSend: boolean,
): Promise<Placed> {
  const { world, archive, node: asked } = spec;
  if (!world && !archive) return { pin: undefined, sendsArchive: false };
  try {
    const [{ items: nodes }, bound, worldVolume, archiveVolume] = await Promise.all([
      deps.kube.list(resources.nodes),
      world && spec.server !== "" ? findBinding(deps, spec.server) : undefined,
      world && findBoundVolume(deps, world.claim),
      archive && findBoundVolume(deps, deps.settings.storage.archive_claim),
    ]);
    const placement = decidePlacement({
      ...{ nodes, asked, bound, canSend },
      world: world && placeIn(worldVolume, nodes),
      archive: archive && placeIn(archiveVolume, nodes),
    });
    if ("refused" in placement) throw new Fault("unavailable", { message: placement.refused });
    return placement;
  } catch (error) {
    // Without the ClusterRole `svc-storage-moves` storage cannot read nodes, and there is only one.
    if (!isKubeError(error, 403)) throw error;
    return { pin: asked === undefined ? undefined : { identity: asked }, sendsArchive: false };
  }
}

/** By its object, not by where a pod of it last ran. */
async function findBinding({ kube, ...deps }: ClusterDeps, name: string): Promise<string | undefined> {
  const server = await kube.find(lockedServers, { name, ...inNamespace(deps) });
  return (server?.spec as { nodeName?: string } | undefined)?.nodeName || undefined;
}
