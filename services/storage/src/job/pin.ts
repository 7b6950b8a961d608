// The node of a pod that mounts a world or the archive folder (docs/reference/moves.md#pins). Pure.
//
// The scheduler alone would go by the volume, and most volumes select their node by a label that any kubelet may give its
// own: a node that was taken over could have the pods of other worlds, with their archives, tickets and secrets.

import type { Node, Pod } from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";
import type { VolumePlace } from "../volume/place.ts";

type PodSpec = NonNullable<Pod["spec"]>;

/** By a label or by a name; neither can be changed by a kubelet. */
export type Pin = { readonly identity: string } | { readonly name: string };

export type Observed = {
  readonly nodes: readonly Node[];
  /** Identity of the node that it must run on, whatever its volumes say. */
  readonly asked?: string | undefined;
  /** Identity of the node that its server is bound to. */
  readonly bound?: string | undefined;
  /** Of the volumes that it mounts. */
  readonly world?: VolumePlace | undefined;
  readonly archive?: VolumePlace | undefined;
  /** Whether the archive can be sent in place of the folder being mounted. */
  readonly canSend: boolean;
};

type Placement =
  | { readonly pin: Pin | undefined; readonly sendsArchive: boolean }
  | { readonly refused: string };

/** Where a Job runs, and whether its archive is sent; `refused` is for the operator. */
export function decidePlacement(observed: Observed): Placement {
  const { nodes, asked, bound, world, archive, canSend } = observed;
  const ofServer = bound === undefined ? undefined : { identity: bound };
  const home = asked === undefined ? homeOf(world, ofServer) : pinOfIdentity(asked, nodes);
  if (world?.is === "unknown" && !home) return { refused: refusalOf("world", world.selector) };
  const mounted = archive?.is === "on" ? pinOf(archive.node) : undefined;
  const isApart = home !== undefined && mounted !== undefined && textOf(home) !== textOf(mounted);
  const isLost = archive?.is === "unknown";
  if (home && canSend && (isApart || isLost)) return { pin: home, sendsArchive: true };
  if (isLost) return { refused: refusalOf("archive", archive.selector) };
  if (isApart)
    return {
      refused: `The world is on ${textOf(home)} and the archive folder on ${textOf(mounted)}; set storage.internal_url, so that archives are sent between nodes.`,
    };
  const pin = home ?? mounted ?? (world && ofServer);
  return { pin, sendsArchive: false };
}

/** A volume that is made by the pod is made where the server runs. */
function homeOf(world: VolumePlace | undefined, ofServer: Pin | undefined): Pin | undefined {
  if (world?.is === "on") return pinOf(world.node);
  return world?.is === "unknown" || world?.is === "unbound" ? ofServer : undefined;
}

export function pinOf(node: Node): Pin {
  const identity = node.metadata.labels?.[nodeLabels.identity];
  return identity === undefined ? { name: node.metadata.name } : { identity };
}

/** A node without the label has its name as identity. */
function pinOfIdentity(identity: string, nodes: readonly Node[]): Pin {
  const pins = nodes.map(pinOf);
  const isNamed = pins.some((pin) => "name" in pin && pin.name === identity);
  const isLabelled = pins.some((pin) => "identity" in pin && pin.identity === identity);
  return isNamed && !isLabelled ? { name: identity } : { identity };
}

const textOf = (pin: Pin) => ("identity" in pin ? pin.identity : pin.name);

function refusalOf(volume: "world" | "archive", selector: string): string {
  const about = `The volume of the ${volume} selects its node by ${selector}, and nothing that a kubelet can't change says which one that is`;
  const todo =
    volume === "world"
      ? "set spec.nodeName of its server to the identity of that node"
      : `give one node, that of the archives, the label ${nodeLabels.role}=controller`;
  return `${about}; ${todo}. See docs/reference/moves.md#pins.`;
}

/** What it adds to the spec of a pod. The world is there and nowhere else: it is saved and moved while its node is cordoned. */
export function pinned(pin: Pin | undefined, before: Partial<PodSpec> = {}): Partial<PodSpec> {
  if (!pin) return {};
  const tolerations = [
    ...(before.tolerations ?? []),
    { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
  ];
  if ("identity" in pin) return { nodeSelector: { [nodeLabels.identity]: pin.identity }, tolerations };
  const byName = { matchFields: [{ key: "metadata.name", operator: "In", values: [pin.name] }] };
  const required = { nodeSelectorTerms: [byName] };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
  return { affinity: { ...before.affinity, nodeAffinity }, tolerations };
}
