import type { Node } from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";

export function isOnline({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

export function isCordoned({ spec }: Node): boolean {
  return spec?.unschedulable === true;
}

/** Whether a new or moved server may be placed there: an approved worker that is online, has an identity and is not cordoned. */
export function takesServers(node: Node): boolean {
  const { [nodeLabels.approved]: approved, [nodeLabels.role]: role } = node.metadata.labels ?? {};
  const isUsable = approved === "true" && role === "worker" && !isCordoned(node);
  return isUsable && identityOf(node) !== undefined && isOnline(node);
}

export function identityOf(node: Node): string | undefined {
  return node.metadata.labels?.[nodeLabels.identity];
}

/** Servers are bound by the identity, so that is the name that people give and see where there is one. */
export function nameOf(node: Node): string {
  return identityOf(node) ?? node.metadata.name;
}
