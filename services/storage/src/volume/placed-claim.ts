// Claims, their volumes and their nodes (docs/reference/moves.md#labels).

import { type Node, type PersistentVolumeClaim, resource, resources } from "@svc/kube";
import { type ClusterDeps, inNamespace } from "../deps.ts";
import { placeOf, type Volume, type VolumePlace } from "./place.ts";

const volumes = resource<Volume>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});

/** The scheduler notes there which node a volume was made for; no kubelet may change a claim. */
const selectedNode = "volume.kubernetes.io/selected-node";

export type PlacedClaim = { claim: PersistentVolumeClaim; uid: string; place: VolumePlace };

/** A bound claim and where its volume is; undefined when it does not exist, is not bound, or is being deleted. */
export async function findPlacedClaim(deps: ClusterDeps, name: string): Promise<PlacedClaim | undefined> {
  const [found, { items: nodes }] = await Promise.all([
    findBoundVolume(deps, name),
    deps.kube.list(resources.nodes),
  ]);
  return found && { claim: found.claim, uid: found.claim.metadata.uid ?? "", place: placeIn(found, nodes) };
}

/** The node of a claim whose volume is on one. */
export function nodeOf(placed: PlacedClaim | undefined): Node | undefined {
  return placed?.place.is === "on" ? placed.place.node : undefined;
}

type BoundVolume = { claim: PersistentVolumeClaim; volume: Volume | undefined };

export async function findBoundVolume(deps: ClusterDeps, name: string): Promise<BoundVolume | undefined> {
  const claim = await deps.kube.find(resources.claims, { name, ...inNamespace(deps) });
  const volumeName = claim?.spec?.volumeName;
  if (!claim || claim.metadata.deletionTimestamp !== undefined) return undefined;
  if (claim.status?.phase !== "Bound" || volumeName === undefined) return undefined;
  return { claim, volume: await deps.kube.find(volumes, { name: volumeName }) };
}

export function placeIn(found: BoundVolume | undefined, nodes: readonly Node[]): VolumePlace {
  if (!found?.volume) return { is: "unbound" };
  const { claim, volume } = found;
  return placeOf(volume, { nodes, selectedNode: claim.metadata.annotations?.[selectedNode] });
}
