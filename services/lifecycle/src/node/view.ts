// A node as operators see it (docs/reference/moves.md#nodes).

import type { Node } from "@svc/kube";
import type { nodes } from "@svc/proto";
import { hasOutdatedLabels, nodeLabels } from "@svc/proto/node-labels";
import { isCordoned, isOnline, nameOf } from "../cluster/node.ts";

const shownAddresses: ReadonlySet<string> = new Set(["InternalIP", "ExternalIP"]);

export function toExecutionNode(node: Node): nodes.ExecutionNode {
  const { labels = {} } = node.metadata;
  const addresses = (node.status?.addresses ?? []).filter(({ type }) => shownAddresses.has(type));
  return {
    name: nameOf(node),
    role: labels[nodeLabels.role] ?? "",
    ready: isOnline(node),
    approved: labels[nodeLabels.approved] === "true" && !isCordoned(node),
    addresses: addresses.map(({ address }) => address),
    architecture: node.status?.nodeInfo?.architecture ?? labels["kubernetes.io/arch"] ?? "",
    ...(hasOutdatedLabels(labels) && { outdated: true }),
  };
}
