import type { Node, Pod } from "@svc/kube";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { identityOf, isCordoned, isOnline } from "../cluster/node.ts";
import { type Server, wantsToRun } from "../cluster/resource.ts";
import type { NodeState } from "./observed.ts";

/** Whether the node that a server is bound to can run it now (docs/reference/server-states.md#pass). */
export function nodeStateOf(server: Server, pod: Pod | undefined, copy: { list: () => Node[] }): NodeState {
  const pinned = server.spec.nodeName;
  const current = pod?.spec?.nodeName;
  if (!pinned && !current) return { kind: "fine" };
  const nodes = copy.list();
  if (pinned) {
    const node = nodes.find((candidate) => identityOf(candidate) === pinned);
    if (!node) return unavailable(reasonOf(nodes, pinned));
    if (node.metadata.labels?.[nodeLabels.approved] !== "true")
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

/** Why no node has the identity. An old label is named, since the operator has to act, and trusted for nothing. */
function reasonOf(nodes: readonly Node[], pinned: string): string {
  const isOld = ({ metadata }: Node) => metadata.labels?.[oldNodeLabels.identity] === pinned;
  return nodes.some(isOld)
    ? `the labels of node ${pinned} are of an earlier release; an operator runs svc node relabel`
    : `there is no node ${pinned}`;
}

function unavailable(what: string): NodeState {
  return { kind: "unavailable", problem: `The server cannot run now: ${what}.` };
}
