import type { KubeObject } from "../../cluster-api.ts";
import { hasLabels, type Labels, meetsRequirement } from "../../label-selector.ts";
import type { Condition, NodeSelectorTerm, Pod } from "../objects.ts";
import type { Claim, PersistentVolume } from "../volume/objects.ts";

type Taint = { key: string; value?: string; effect: string };
export type Node = KubeObject & {
  spec?: { unschedulable?: boolean; taints?: Taint[] };
  status?: { conditions?: Condition[] };
};

type Observed = {
  pod: Pod;
  nodes: Node[];
  /** How many active pods each node has. */
  load: Map<string, number>;
  /** The claims of the pod; undefined stands for one that does not exist. */
  claims: { name: string; claim: Claim | undefined; volume: PersistentVolume | undefined }[];
};

/** `node` is the node of the pod; `refused` is the message of the PodScheduled condition. */
type Placement = { node: string } | { refused: string };

/** What tolerates this goes on nodes that are cordoned, too. */
const cordoned: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

function tolerates(pod: Pod, taint: Taint): boolean {
  if (taint.effect === "PreferNoSchedule") return true;
  return (pod.spec.tolerations ?? []).some(
    (one) =>
      (one.key === undefined || one.key === taint.key) &&
      (one.effect === undefined || one.effect === "" || one.effect === taint.effect) &&
      (one.operator === "Exists" || (one.value ?? "") === (taint.value ?? "")),
  );
}

/** Node selector terms are alternatives; all expressions of one must match. */
function matchesTerms({ name, labels }: Node["metadata"], terms: readonly NodeSelectorTerm[]): boolean {
  const fields: Labels = { "metadata.name": name };
  const meets = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm) =>
    matchExpressions.every((one) => meetsRequirement(labels, one)) &&
    matchFields.every((one) => meetsRequirement(fields, one));
  return terms.some(meets);
}

/** Why the node cannot run the pod, with the message of Kubernetes; undefined when it can. */
function refusal(node: Node, { pod, claims }: Observed): string | undefined {
  const labels = node.metadata.labels;
  const ready =
    node.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;
  if (!ready) return "node(s) were not ready";
  if (node.spec?.unschedulable === true && !tolerates(pod, cordoned)) return "node(s) were unschedulable";
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (
    !hasLabels(labels, pod.spec.nodeSelector) ||
    (terms !== undefined && !matchesTerms(node.metadata, terms))
  ) {
    return "node(s) didn't match Pod's node affinity/selector";
  }
  const taint = node.spec?.taints?.find((one) => !tolerates(pod, one));
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
  const fixed = claims.every(({ volume }) => {
    const required = volume?.spec.nodeAffinity?.required?.nodeSelectorTerms;
    return required === undefined || matchesTerms(node.metadata, required);
  });
  return fixed ? undefined : "node(s) had volume node affinity conflict";
}

/** Chooses the node with the fewest pods among those that can run the pod. */
export function place(observed: Observed): Placement {
  const { nodes, claims, load } = observed;
  const missing = claims.find(({ claim }) => claim === undefined);
  if (missing !== undefined) return { refused: `persistentvolumeclaim "${missing.name}" not found` };
  const dying = claims.find(({ claim }) => claim?.metadata.deletionTimestamp !== undefined);
  if (dying !== undefined) return { refused: `persistentvolumeclaim "${dying.name}" is being deleted` };
  const reasons = new Map<string, number>();
  const fit = nodes.filter((node) => {
    const reason = refusal(node, observed);
    if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return reason === undefined;
  });
  const weight = (node: Node) => load.get(node.metadata.name) ?? 0;
  const [best] = fit.sort((a, b) => weight(a) - weight(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  if (best !== undefined) return { node: best.metadata.name };
  const told = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(", ");
  return { refused: `0/${nodes.length} nodes are available: ${told || "the cluster has no node"}.` };
}
