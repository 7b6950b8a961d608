// What game servers may take of the memory of each node (docs/reference/moves.md#room). Pure.

import type { Node } from "@svc/kube";
import type { nodes } from "@svc/proto";
import { limitOf, memoryOf } from "../cluster/memory.ts";
import { isCordoned, nameOf, takesServers } from "../cluster/node.ts";
import { type Server, wantsToRun } from "../cluster/resource.ts";

type Room = { nodes: nodes.NodeRoom[]; unassigned: number };

export function roomOf(nodes: readonly Node[], servers: readonly Server[]): Room {
  const rooms = new Map<string, nodes.NodeRoom>();
  for (const node of nodes) {
    const name = nameOf(node);
    const counts = { memory: memoryOf(node), assigned: 0, awake: 0, servers: 0 };
    rooms.set(name, { name, ...counts, takes_servers: takesServers(node), cordoned: isCordoned(node) });
  }
  let unassigned = 0;
  for (const server of servers) {
    const room = rooms.get(server.spec.nodeName ?? "");
    if (!server.spec.nodeName) unassigned += 1;
    if (!room) continue;
    const limit = limitOf(server);
    room.servers += 1;
    room.assigned += limit;
    if (wantsToRun(server)) room.awake += limit;
  }
  return { nodes: [...rooms.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), unassigned };
}
