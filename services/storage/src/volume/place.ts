// Which node a volume is on, by what no kubelet can change (docs/reference/moves.md#labels). Pure.
//
// A kubelet may change labels of its own node, `kubernetes.io/hostname` among them, and most volumes on disks select by
// it. So a node is never found by such a label of a node, only by what the volume says and what the node can't change.

import type { KubeObject, Node } from "@svc/kube";
import { nodeLabels, protectedKeyOf } from "@svc/proto/node-labels";

type Requirement = { key: string; operator: string; values?: string[] };
type Term = { matchExpressions?: Requirement[]; matchFields?: Requirement[] };
export type Volume = KubeObject & {
  spec?: { nodeAffinity?: { required?: { nodeSelectorTerms?: Term[] } } };
};

export type VolumePlace =
  /** Several nodes can mount it, or it is the only node's. */
  | { readonly is: "anywhere" }
  /** There is no volume yet: the first pod decides. */
  | { readonly is: "unbound" }
  | { readonly is: "on"; readonly node: Node }
  /** It is on one node, and nothing that can be trusted says on which. */
  | { readonly is: "unknown"; readonly selector: string };

const hostname = "kubernetes.io/hostname";
const protectedKeys: ReadonlySet<string> = new Set(Object.values(nodeLabels));
const isProtected = ({ key }: Requirement) => protectedKeys.has(protectedKeyOf(key));
const labelOf = ({ metadata }: Node, key: string) => metadata.labels?.[key];

/**
 * The place of a bound volume. `selectedNode` is the node that the scheduler noted at its claim when it was made
 * (`volume.kubernetes.io/selected-node`).
 */
export function placeOf(
  volume: Pick<Volume, "spec">,
  { nodes, selectedNode }: { nodes: readonly Node[]; selectedNode?: string | undefined },
): VolumePlace {
  const terms = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return { is: "anywhere" };
  const node = findByProtected(terms, nodes) ?? findByName(terms, nodes) ?? findSelected();
  if (node) return { is: "on", node };
  const isOfOneNode = terms.length === 1 && terms.every(selectsOneNode);
  if (nodes.length <= 1 || !isOfOneNode) return { is: "anywhere" };
  return { is: "unknown", selector: terms.map(textOf).join(" or ") };

  function findSelected(): Node | undefined {
    const isOfHost = terms.length === 1 && terms.every(isOfOneHost);
    return isOfHost ? nodes.find(({ metadata }) => metadata.name === selectedNode) : undefined;
  }
}

/** By labels that NodeRestriction guards, and by the name of the node. */
function findByProtected(terms: readonly Term[], nodes: readonly Node[]): Node | undefined {
  const guarded = terms.map(({ matchExpressions = [], matchFields = [] }) => [
    ...matchExpressions.filter(isProtected).map((one) => [one, protectedKeyOf(one.key)] as const),
    ...matchFields.map((one) => [one, undefined] as const),
  ]);
  if (guarded.some((term) => term.length === 0)) return undefined;
  const fits = (node: Node, [one, label]: (typeof guarded)[number][number]) =>
    isAmong(one, label === undefined ? node.metadata.name : labelOf(node, label));
  const homes = nodes.filter((node) => guarded.some((term) => term.every((one) => fits(node, one))));
  return homes.length === 1 ? homes[0] : undefined;
}

// Unknown operators match nothing.
function isAmong({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  return operator === "In" && value !== undefined && values.includes(value);
}

/** By a value that is the name or identity of a node, whatever label it is looked for under. */
function findByName(terms: readonly Term[], nodes: readonly Node[]): Node | undefined {
  const [term, ...others] = terms;
  if (others.length > 0) return undefined;
  for (const { operator, values = [] } of term?.matchExpressions ?? []) {
    const [value, ...more] = values;
    if (operator !== "In" || value === undefined || more.length > 0) continue;
    const node =
      nodes.find(({ metadata }) => metadata.name === value) ??
      nodes.find((one) => labelOf(one, nodeLabels.identity) === value);
    if (node) return node;
  }
  return undefined;
}

function isOfOneHost({ matchExpressions = [] }: Term): boolean {
  return matchExpressions.some(
    ({ key, operator, values }) => key === hostname && operator === "In" && values?.length === 1,
  );
}

/** The controller is one; a name is one node's. Other labels, those of zones for example, are of several nodes. */
function selectsOneNode(term: Term): boolean {
  const isOfRole = ({ key, values }: Requirement) =>
    protectedKeyOf(key) === nodeLabels.role && values?.includes("controller") === true;
  const isOfIdentity = ({ key }: Requirement) => protectedKeyOf(key) === nodeLabels.identity;
  const expressions = term.matchExpressions ?? [];
  const isNamed = (term.matchFields ?? []).length > 0 || isOfOneHost(term);
  return isNamed || expressions.some((one) => isOfRole(one) || isOfIdentity(one));
}

function textOf({ matchExpressions = [], matchFields = [] }: Term): string {
  const all = [...matchExpressions, ...matchFields];
  return all.map(({ key, operator, values = [] }) => `${key} ${operator} ${values.join(",")}`).join(" and ");
}
