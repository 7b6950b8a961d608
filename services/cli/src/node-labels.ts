const prefix = "svc.internal";

/** Labels of nodes (docs/reference/moves.md#protected-labels). */
export const nodeLabels = {
  identity: `${prefix}/identity`,
  role: `${prefix}/role`,
  approved: `${prefix}/approved`,
};
/** What keeps all pods off a node that joined, until it is approved. */
export const joinTaint = { key: `${prefix}/not-approved`, effect: "NoSchedule" } as const;
