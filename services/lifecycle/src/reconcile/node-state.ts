import type { Node, Pod } from "@svc/kube";
import { identityOf, isOnline } from "../cluster/node.ts";
import { label, type Server } from "../cluster/resource.ts";
import type { NodeState } from "./observed.ts";

/** Whether the node that a server is bound to can run it now (docs/reference/server-states.md#pass). */
export function nodeStateOf(server: Server, pod: Pod | undefined, copy: { list: () => Node[] }): NodeState {
  const pinned = server.spec.nodeName;
  const current = pod?.spec?.nodeName;
  if (!pinned && !current) return { kind: "fine" };
  const nodes = copy.list();
  if (pinned) {
    const node = nodes.find((candidate) => identityOf(candidate) === pinned);
    if (!node) return unavailable(`there is no node ${pinned}`);
    if (node.metadata.labels?.[label.nodeApproved] !== "true")
      return unavailable(`node ${pinned} is not approved`);
    return isOnline(node) ? { kind: "fine" } : unavailable(`node ${pinned} is offline`);
  }
  const node = nodes.find(({ metadata }) => metadata.name === current);
  return node && isOnline(node) ? { kind: "fine" } : unavailable(`node ${current} is offline`);
}

function unavailable(what: string): NodeState {
  return { kind: "unavailable", problem: `The server cannot run now: ${what}.` };
}
