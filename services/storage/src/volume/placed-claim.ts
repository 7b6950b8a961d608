// Volumes and their nodes (docs/reference/moves.md#steps: only volumes of one node are moved).

import { type KubeObject, type Node, type PersistentVolumeClaim, resource, resources } from "@svc/kube";
import { protectedKeyOf } from "@svc/proto/node-labels";
import { type ClusterDeps, inNamespace } from "../deps.ts";

type Requirement = { key: string; operator: string; values?: string[] };
type Term = { matchExpressions?: Requirement[]; matchFields?: Requirement[] };
type Volume = KubeObject & {
  spec?: { nodeAffinity?: { required?: { nodeSelectorTerms?: Term[] } } };
};

const volumes = resource<Volume>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});

/** The only node that can use a volume; undefined when there is none or several. Pure. */
export function findNodeOf(volume: Pick<Volume, "spec">, nodes: readonly Node[]): Node | undefined {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms;
  if (!terms) return undefined;
  const homes = nodes.filter((node) => terms.some((term) => isMatch(term, node)));
  return homes.length === 1 ? homes[0] : undefined;
}

function isMatch({ matchExpressions = [], matchFields = [] }: Term, { metadata }: Node): boolean {
  const all = [
    // A volume keeps the label that it was made with, which any kubelet may give its node if it is an old one.
    ...matchExpressions.map((one) => [one, metadata.labels?.[protectedKeyOf(one.key)]] as const),
    ...matchFields.map((one) => [one, one.key === "metadata.name" ? metadata.name : undefined] as const),
  ];
  // Unknown operators match nothing.
  const fits = ([{ operator, values = [] }, value]: (typeof all)[number]) =>
    operator === "In" && value !== undefined && values.includes(value);
  return all.length > 0 && all.every(fits);
}

export type PlacedClaim = { claim: PersistentVolumeClaim; uid: string; node: Node | undefined };

/** A bound claim and the node of its volume; undefined when it does not exist, is not bound, or is being deleted. */
export async function findPlacedClaim(deps: ClusterDeps, name: string): Promise<PlacedClaim | undefined> {
  const claim = await deps.kube.find(resources.claims, { name, ...inNamespace(deps) });
  const volumeName = claim?.spec?.volumeName;
  if (!claim || claim.metadata.deletionTimestamp !== undefined) return undefined;
  if (claim.status?.phase !== "Bound" || volumeName === undefined) return undefined;
  const [volume, { items: nodes }] = await Promise.all([
    deps.kube.find(volumes, { name: volumeName }),
    deps.kube.list(resources.nodes),
  ]);
  return { claim, uid: claim.metadata.uid ?? "", node: volume && findNodeOf(volume, nodes) };
}
