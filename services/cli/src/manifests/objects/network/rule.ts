// The parts of network policies.

import type { Template } from "../../template/expression.ts";
import { selectorOf, type V } from "../common.ts";

export const dns = {
  to: [
    {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
      podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
    },
  ],
  ports: [
    { protocol: "UDP", port: 53 },
    { protocol: "TCP", port: 53 },
  ],
};

/** Pods of a namespace; `labels` narrows them. */
export function podsIn(namespace: Template, labels?: Record<string, string>): Template {
  return {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    ...(labels && { podSelector: { matchLabels: labels } }),
  };
}

/** A part of the control plane, seen from another namespace. */
export function controlPod(v: V, name: string): Template {
  return podsIn(v.namespaces.control, selectorOf(name));
}

export function tcp(...ports: readonly Template[]): Template[] {
  return ports.map((port) => ({ protocol: "TCP", port }));
}

type Policy = {
  name: string;
  namespace: Template;
  pods: Template;
  ingress?: readonly Template[];
  egress?: readonly Template[];
};

/** Denies what the rules of a direction do not name: an empty list denies everything, none leaves the direction as it is. */
export function networkPolicy({ name, namespace, pods, ingress, egress }: Policy): Template {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace },
    spec: {
      podSelector: pods,
      policyTypes: [...(ingress ? ["Ingress"] : []), ...(egress ? ["Egress"] : [])],
      ...(ingress?.length && { ingress }),
      ...(egress?.length && { egress }),
    },
  };
}
