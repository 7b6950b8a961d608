// The labels of nodes that decide which node carries whose world (docs/reference/moves.md#labels).
// Vocabulary: protected = of a domain whose labels NodeRestriction lets no kubelet change;
// old = of the releases before, which any kubelet may change on its own node.

/** Labels of Node objects, and the only ones that svc trusts (docs/reference/moves.md#labels). */
export const nodeLabels = {
  /** What servers are bound to: `nodeName`, `targetNode`. */
  identity: "svc.node-restriction.kubernetes.io/identity",
  /** `controller` or `worker`. */
  role: "svc.node-restriction.kubernetes.io/role",
  /** `true` once an operator let it take servers. */
  approved: "svc.node-restriction.kubernetes.io/approved",
} as const;

/** What earlier releases called them. They may stay for volumes and pods that select by them; svc trusts none of them. */
export const oldNodeLabels = {
  identity: "svc.internal/identity",
  role: "svc.internal/role",
  approved: "svc.internal/approved",
} as const;

/** What keeps all pods off a node that joined, until it is approved. NodeRestriction lets no kubelet change taints. */
export const joinTaint = { key: "svc.internal/not-approved", effect: "NoSchedule" } as const;

const kinds = ["identity", "role", "approved"] as const;

/** The protected label in the place of an old one; any other key as it is. Pure. */
export function protectedKeyOf(key: string): string {
  const kind = kinds.find((one) => oldNodeLabels[one] === key);
  return kind ? nodeLabels[kind] : key;
}

/**
 * What a node has under an old label only, by the protected label that should have it (docs/reference/moves.md#relabel).
 * Empty for a node of this release. Pure.
 */
export function outdatedLabelsOf(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  const found: Record<string, string> = {};
  for (const kind of kinds) {
    const old = labels[oldNodeLabels[kind]];
    if (old !== undefined && labels[nodeLabels[kind]] === undefined) found[nodeLabels[kind]] = old;
  }
  return found;
}

/** Whether a node has something under an old label only, which counts for nothing (docs/reference/moves.md#relabel). Pure. */
export function hasOutdatedLabels(labels?: Readonly<Record<string, string>>): boolean {
  return Object.keys(outdatedLabelsOf(labels)).length > 0;
}
