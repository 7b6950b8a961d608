// Nodes as targets of moves (docs/reference/moves.md#nodes).

import { type Node, resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import { nodeLabels } from "@svc/proto/node-labels";
import type { StorageDeps } from "../deps.ts";

export function nodeIdentity({ metadata }: Node): string {
  return metadata.labels?.[nodeLabels.identity] ?? metadata.name;
}

export function isOnline({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** Why a node cannot take a world; undefined when it can. Pure. */
export function findTargetFault(
  nodes: readonly Node[],
  target: string,
): "bad_node" | "node_unavailable" | undefined {
  const node = nodes.find(({ metadata }) => metadata.labels?.[nodeLabels.identity] === target);
  const labels = node?.metadata.labels ?? {};
  const isApproved = labels[nodeLabels.approved] === "true" && labels[nodeLabels.role] === "worker";
  if (!node || !isApproved || node.spec?.unschedulable) return "bad_node";
  return isOnline(node) ? undefined : "node_unavailable";
}

export async function assertTarget({ kube }: Pick<StorageDeps, "kube">, target: string): Promise<void> {
  const { items } = await kube.list(resources.nodes);
  const why = findTargetFault(items, target);
  if (why) throw new Fault(why, why === "bad_node" ? {} : { message: `The node ${target} is offline.` });
}
