import type { Node, Pod } from "@svc/kube";
import { identityOf, isCordoned, isOnline } from "../cluster/node.ts";
import { label, type Server, wantsToRun } from "../cluster/resource.ts";
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
    if (!isOnline(node)) return unavailable(`node ${pinned} is offline`);
    // Its pod would be pending until the start has failed; one that runs there already goes on.
    if (isCordoned(node) && wantsToRun(server) && !pod)
      return unavailable(`node ${pinned} is cordoned; move the world to another node`);
    return { kind: "fine" };
  }
  const node = nodes.find(({ metadata }) => metadata.name === current);
  return node && isOnline(node) ? { kind: "fine" } : unavailable(`node ${current} is offline`);
}

function unavailable(what: string): NodeState {
  return { kind: "unavailable", problem: `The server cannot run now: ${what}.` };
}
