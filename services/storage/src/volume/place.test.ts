import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Node } from "@svc/kube";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { placeOf } from "./place.ts";

type Labels = Record<string, string>;
const hostname = "kubernetes.io/hostname";
const zone = "topology.kubernetes.io/zone";
const node = (name: string, labels: Labels = {}): Node => ({
  ...{ apiVersion: "v1", kind: "Node", metadata: { name, labels: { [hostname]: name, ...labels } } },
});
const worker = (name: string, labels: Labels = {}) =>
  node(name, { [nodeLabels.identity]: name, [nodeLabels.role]: "worker", ...labels });

const home = node("home", { [nodeLabels.role]: "controller", [oldNodeLabels.role]: "controller" });
const a = worker("a", { [zone]: "z" });
const b = worker("b", { [zone]: "z" });
/** A node whose kubelet gives it every name that it may. */
const taken = worker("taken", {
  ...{ [hostname]: "a", [zone]: "z", "topology.topolvm.io/node": "a", host: "a" },
  ...{ [oldNodeLabels.identity]: "a", [oldNodeLabels.role]: "controller" },
});
const cluster = [taken, home, a, b];

const term = (key: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator: "In", values }],
});
const volume = (...nodeSelectorTerms: object[]) => ({
  spec: { nodeAffinity: { required: { nodeSelectorTerms } } },
});
const byField = (name: string) => ({
  matchFields: [{ key: "metadata.name", operator: "In", values: [name] }],
});

const table: [
  fact: string,
  volume: Parameters<typeof placeOf>[0],
  about: { nodes?: Node[]; selectedNode?: string },
  place: string,
][] = [
  ["without node affinity can be anywhere", {}, {}, "anywhere"],
  ["without terms can be anywhere", volume(), {}, "anywhere"],
  ["is on the node of its hostname, whoever else has that", volume(term(hostname, "a")), {}, "on a"],
  ["is on it by any label with a name as value", volume(term("topology.topolvm.io/node", "a")), {}, "on a"],
  [
    "of a node that is gone is not on one that has its hostname now",
    volume(term(hostname, "a")),
    { nodes: [taken, b] },
    "unknown",
  ],
  [
    "is on a node without labels of svc as well",
    volume(term(hostname, "a")),
    { nodes: [node("a"), b] },
    "on a",
  ],
  [
    "has its hostname as identity where the node has another name",
    volume(term(hostname, "a")),
    { nodes: [taken, worker("ip-1", { [nodeLabels.identity]: "a" }), b] },
    "on ip-1",
  ],
  [
    "whose hostname is no name is where the scheduler had it made",
    volume(term(hostname, "host-of-a")),
    { selectedNode: "a" },
    "on a",
  ],
  ["was made for a node that is gone", volume(term(hostname, "host-of-c")), { selectedNode: "c" }, "unknown"],
  ["whose hostname is no name is unknown otherwise", volume(term(hostname, "host-of-a")), {}, "unknown"],
  [
    "is the only node's that there is",
    volume(term(hostname, "host-of-a")),
    { nodes: [node("a")] },
    "anywhere",
  ],
  ["is of the only node by its name, too", volume(term(hostname, "a")), { nodes: [node("a")] }, "on a"],
  [
    "of an earlier release is found by the protected label",
    volume(term(oldNodeLabels.role, "controller")),
    {},
    "on home",
  ],
  ["of this release as well", volume(term(nodeLabels.role, "controller")), {}, "on home"],
  [
    "of the controller is unknown without the protected label",
    volume(term(oldNodeLabels.role, "controller")),
    { nodes: [taken, a] },
    "unknown",
  ],
  [
    "of the controller is unknown where two nodes have it",
    volume(term(nodeLabels.role, "controller")),
    { nodes: [home, node("second", { [nodeLabels.role]: "controller" })] },
    "unknown",
  ],
  ["is found by the identity, new or old", volume(term(oldNodeLabels.identity, "a")), {}, "on a"],
  ["is found by the name of the node", volume(byField("a")), {}, "on a"],
  ["of a name that is gone is unknown", volume(byField("c")), {}, "unknown"],
  ["needs all of a term", volume({ ...term(nodeLabels.role, "worker"), ...byField("home") }), {}, "unknown"],
  ["of a zone can be anywhere", volume(term(zone, "z")), { selectedNode: "a" }, "anywhere"],
  ["of several nodes can be anywhere", volume(term(hostname, "a", "b")), {}, "anywhere"],
  ["of alternatives can be anywhere", volume(term(zone, "y"), term(zone, "z")), {}, "anywhere"],
  ["of several hosts as well", volume(term(hostname, "a"), term(hostname, "b")), {}, "anywhere"],
];

describe("a volume", () => {
  for (const [fact, about, { nodes = cluster, selectedNode }, expected] of table)
    test(fact, () => {
      const place = placeOf(about, { nodes, selectedNode });
      assert.equal(place.is === "on" ? `on ${place.node.metadata.name}` : place.is, expected);
    });

  test("that is unknown says what it selects by", () => {
    const place = placeOf(volume(term(hostname, "host-of-a")), { nodes: cluster });
    assert.deepEqual(place, { is: "unknown", selector: "kubernetes.io/hostname In host-of-a" });
  });
});
