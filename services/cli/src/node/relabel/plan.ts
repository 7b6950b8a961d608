// Which nodes of an earlier release get protected labels (docs/reference/moves.md#relabel). Pure.

import type { Node } from "@svc/kube";
import { joinTaint, nodeLabels, oldNodeLabels, outdatedLabelsOf } from "@svc/proto/node-labels";

/** A volume as far as it says which nodes can use it. */
export type Volume = {
  metadata: { name: string };
  spec?: {
    nodeAffinity?: { required?: { nodeSelectorTerms?: { matchExpressions?: { key: string }[] }[] } };
  };
};

export type RelabelPlan = {
  /** What each node gets; the very node with that uid. */
  copy: { node: string; uid: string | undefined; labels: Record<string, string> }[];
  /** A person decides about these. */
  refused: { node: string; why: string }[];
};

/**
 * Old labels may have been changed by whoever took over a node, so they are copied only where nothing speaks against them: a
 * node keeps its own name, no two have one identity or are the controller, and none skips its approval.
 */
export function planRelabel(nodes: readonly Node[]): RelabelPlan {
  const plan: RelabelPlan = { copy: [], refused: [] };
  for (const node of nodes) {
    const { name, uid } = node.metadata;
    const labels = outdatedLabelsOf(node.metadata.labels);
    if (Object.keys(labels).length === 0) continue;
    const why = objectionTo(node, labels, nodes);
    if (why === undefined) plan.copy.push({ node: name, uid, labels });
    else plan.refused.push({ node: name, why });
  }
  return plan;
}

function objectionTo(
  node: Node,
  labels: Readonly<Record<string, string>>,
  nodes: readonly Node[],
): string | undefined {
  const { name } = node.metadata;
  if (node.spec?.taints?.some(({ key }) => key === joinTaint.key))
    return `it has the taint ${joinTaint.key}, so it was not approved; run svc node approve ${name}`;
  const others = nodes.filter((one) => one !== node).map(labelsOf);
  const byHand = `if that is right, run ${labelCommand(name, labels)}`;
  const identity = labels[nodeLabels.identity];
  if (identity !== undefined && identity !== name)
    return `its old label says that it is ${identity}, which is not its name; ${byHand}`;
  if (identity !== undefined && others.some((one) => one[nodeLabels.identity] === identity))
    return `another node is ${identity}, too`;
  const isController = labels[nodeLabels.role] === "controller";
  if (isController && others.some((one) => one[nodeLabels.role] === "controller"))
    return `another node is the controller, too; ${byHand}`;
  return undefined;
}

/** As they would be if every old label was copied. */
function labelsOf({ metadata }: Node): Record<string, string> {
  return { ...metadata.labels, ...outdatedLabelsOf(metadata.labels) };
}

function labelCommand(node: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return `kubectl label node ${node} ${pairs.join(" ")}`;
}

const oldKeys: ReadonlySet<string> = new Set(Object.values(oldNodeLabels));

/** The old label by which a volume selects its node; it can't be changed in a volume. */
export function oldKeyIn(volume: Volume): string | undefined {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return terms
    .flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key))
    .find((key) => oldKeys.has(key));
}
