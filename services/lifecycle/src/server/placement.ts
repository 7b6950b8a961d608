import type { Node } from "@svc/kube";
import { limitOf, memoryOf } from "../cluster/memory.ts";
import { identityOf, nameOf, takesServers } from "../cluster/node.ts";
import type { Server } from "../cluster/resource.ts";

/** Whether a new server may be assigned to the node. */
export function isPlaceable(nodes: readonly Node[], nodeName: string): boolean {
  return nodes.some((node) => identityOf(node) === nodeName && takesServers(node));
}

/**
 * The approved node with the most memory that is not yet assigned to a server (docs/reference/server-resource.md#create); undefined when
 * the cluster has no approved nodes, so that its own scheduler decides.
 */
export function placeServer(nodes: readonly Node[], servers: readonly Server[]): string | undefined {
  const free = new Map<string, number>();
  for (const node of nodes) if (takesServers(node)) free.set(nameOf(node), memoryOf(node));
  for (const server of servers) {
    const { nodeName = "" } = server.spec;
    const before = free.get(nodeName);
    if (before !== undefined) free.set(nodeName, before - limitOf(server));
  }
  const [best] = [...free].sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
  return best?.[0];
}
