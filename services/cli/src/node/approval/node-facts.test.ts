import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";
import { factsOf, findReference } from "./node-facts.ts";

const node = (name: string, about: Partial<Node["metadata"]> = {}): Node => ({
  ...{ apiVersion: "v1", kind: "Node" },
  metadata: { name, ...about },
});

const annotations: [fact: string, annotations: Record<string, string>, state: string][] = [
  ["a key of Cilium is WireGuard", { "network.cilium.io/wg-pub-key": "k" }, "on"],
  ["a key of Calico is WireGuard", { "projectcalico.org/WireguardPublicKey": "k" }, "on"],
  ["Flannel names WireGuard", { "flannel.alpha.coreos.com/backend-type": "wireguard" }, "on"],
  ["Flannel names a backend in clear text", { "flannel.alpha.coreos.com/backend-type": "vxlan" }, "off"],
  ["without an annotation it is not known", {}, "unknown"],
];
for (const [fact, given, state] of annotations)
  test(fact, () => assert.equal(factsOf(node("b", { annotations: given })).encryption.state, state));

const controlPlane = node("cp", { labels: { "node-role.kubernetes.io/control-plane": "" } });
const controller = node("ours", { labels: { [nodeLabels.role]: "controller" } });
const references: [fact: string, nodes: Node[], candidate: string, found: string | undefined][] = [
  ["the node of the archives comes first", [controlPlane, controller], "b", "ours"],
  ["then one of the control plane of Kubernetes", [node("a"), controlPlane], "b", "cp"],
  ["a node is not compared with itself", [controlPlane], "cp", undefined],
  ["a worker is no reference", [node("a")], "b", undefined],
];
for (const [fact, nodes, candidate, found] of references)
  test(fact, () => assert.equal(findReference(nodes, candidate)?.metadata.name, found));
