import type { Handler } from "@svc/mesh";
import type { nodes as contracts } from "@svc/proto";
import type { ServerDeps } from "../server/deps.ts";
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
