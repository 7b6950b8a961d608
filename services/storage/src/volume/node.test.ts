import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Node } from "@svc/kube";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { findTargetFault, nodeIdentity } from "./node.ts";
import { findNodeOf } from "./placed-claim.ts";

const node = (name: string, labels: Record<string, string>): Node => ({
  ...{ apiVersion: "v1", kind: "Node", metadata: { name, labels } },
  status: { conditions: [{ type: "Ready", status: "True" }] },
});
const worker = (keys: Record<"identity" | "role" | "approved", string>, identity: string) => ({
  [keys.identity]: identity,
  [keys.role]: "worker",
  [keys.approved]: "true",
});

describe("the target of a move", () => {
  const table: [fact: string, nodes: Node[], fault: string | undefined][] = [
    ["is a node with the protected labels", [node("a", worker(nodeLabels, "a"))], undefined],
    ["is none that has old labels only", [node("a", worker(oldNodeLabels, "a"))], "bad_node"],
    [
      "is not the node that gave itself the name by an old label",
      [node("b", { ...worker(nodeLabels, "b"), [oldNodeLabels.identity]: "a" })],
      "bad_node",
    ],
  ];
  for (const [fact, nodes, fault] of table)
    test(fact, () => assert.equal(findTargetFault(nodes, "a"), fault));
  test("has its identity by the protected label, or its own name", () => {
    assert.equal(nodeIdentity(node("n", worker(nodeLabels, "a"))), "a");
    assert.equal(nodeIdentity(node("n", worker(oldNodeLabels, "a"))), "n");
  });
});

describe("the node of a volume", () => {
  const volume = (key: string, value: string) => ({
    spec: {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: [value] }] }] },
      },
    },
  });
  const home = node("home", { [nodeLabels.role]: "controller", [oldNodeLabels.role]: "controller" });
  const taken = node("taken", { ...worker(nodeLabels, "taken"), [oldNodeLabels.role]: "controller" });
  const nodes = [taken, home];
  test("of an earlier release is found by the protected label, whatever a node says of itself by the old one", () => {
    assert.equal(findNodeOf(volume(oldNodeLabels.role, "controller"), nodes), home);
    assert.equal(findNodeOf(volume(oldNodeLabels.role, "controller"), [taken]), undefined);
  });
  test("of this release is found by it, too, and one that svc did not make by its own label", () => {
    assert.equal(findNodeOf(volume(nodeLabels.role, "controller"), nodes), home);
    const host = node("host", { "kubernetes.io/hostname": "h" });
    assert.equal(findNodeOf(volume("kubernetes.io/hostname", "h"), [...nodes, host]), host);
  });
});
