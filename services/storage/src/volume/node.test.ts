import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Node } from "@svc/kube";
import { nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { findTargetFault, nodeIdentity } from "./node.ts";

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
