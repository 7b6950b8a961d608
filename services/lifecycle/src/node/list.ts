import type { Handler } from "@svc/mesh";
import type { nodes as contracts } from "@svc/proto";
import { assertListed, type ServerDeps } from "../server/deps.ts";
import { roomOf } from "./room.ts";
import { toExecutionNode } from "./view.ts";

/** lifecycle.node.list: answered from the copy that every replica keeps. */
export function createListNodes({ nodes }: Pick<ServerDeps, "nodes">): Handler<typeof contracts.listNodes> {
  return (context) => {
    // An empty list would be a lie.
    if (!nodes.isReady()) throw context.fault("unavailable");
    const views = nodes.list().map(toExecutionNode);
    return { nodes: views.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  };
}

/** lifecycle.node.read-room: answered from the copies that every replica keeps. */
export function readRoom(deps: Pick<ServerDeps, "nodes" | "servers">): Handler<typeof contracts.readRoom> {
  return (context) => {
    if (!deps.nodes.isReady()) throw context.fault("unavailable");
    assertListed(deps);
    return roomOf(deps.nodes.list(), deps.servers.list());
  };
}
