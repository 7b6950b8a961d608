// What the object of a node says of it. Pure.

import type { Node } from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";
import type { NodeFacts } from "./judge.ts";

export function factsOf({ metadata, status }: Node): NodeFacts {
  const { architecture = "", kubeletVersion = "" } = status?.nodeInfo ?? {};
  const isReady =
    status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;
  const { annotations = {}, name } = metadata;
  return { name, isReady, architecture, kubeletVersion, encryption: encryptionOf(annotations) };
}

function encryptionOf(annotations: Record<string, string>): NodeFacts["encryption"] {
  if (annotations["network.cilium.io/wg-pub-key"]) return { state: "on", by: "Cilium" };
  if (annotations["projectcalico.org/WireguardPublicKey"]) return { state: "on", by: "Calico" };
  const flannel = annotations["flannel.alpha.coreos.com/backend-type"];
  if (flannel === undefined) return { state: "unknown" };
  return flannel === "wireguard"
    ? { state: "on", by: "Flannel" }
    : { state: "off", by: `Flannel with ${flannel}` };
}

/** The node of the control plane, with which another one is compared. */
export function findReference(nodes: readonly Node[], candidate: string): Node | undefined {
  const others = nodes.filter(({ metadata }) => metadata.name !== candidate);
  const has = (key: string, value?: string) =>
    others.find(({ metadata: { labels = {} } }) =>
      value === undefined ? key in labels : labels[key] === value,
    );
  return (
    has(nodeLabels.role, "controller") ??
    has("node-role.kubernetes.io/control-plane") ??
    has("node-role.kubernetes.io/master")
  );
}
