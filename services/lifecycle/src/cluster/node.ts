import type { Node } from "@svc/kube";
import { label } from "./resource.ts";

export function isOnline({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
}

/** May take new servers: approved, schedulable and not the controller. */
export function isApprovedWorker(node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  return (
    labels[label.nodeApproved] === "true" && labels[label.nodeRole] === "worker" && !node.spec?.unschedulable
  );
}

export function identityOf(node: Node): string | undefined {
  return node.metadata.labels?.[label.nodeIdentity];
}
