import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Node } from "@svc/kube";
import { joinTaint, nodeLabels, oldNodeLabels } from "@svc/proto/node-labels";
import { oldKeyIn, planRelabel } from "./plan.ts";

type Labels = Partial<Record<keyof typeof nodeLabels, string>>;
const keyed = (keys: Record<keyof typeof nodeLabels, string>, labels: Labels) =>
  Object.fromEntries(Object.entries(labels).map(([kind, value]) => [keys[kind as keyof Labels], value]));

type About = { old?: Labels; now?: Labels; taints?: { key: string; effect: string }[] };
function node(name: string, { old = {}, now = {}, taints = [] }: About): Node {
  const labels = { ...keyed(oldNodeLabels, old), ...keyed(nodeLabels, now), "kubernetes.io/hostname": name };
  return { apiVersion: "v1", kind: "Node", metadata: { name, uid: `uid-${name}`, labels }, spec: { taints } };
}
const worker = (identity: string): Labels => ({ identity, role: "worker", approved: "true" });

const table: [
  fact: string,
  nodes: Node[],
  copied: Record<string, Labels>,
  refused: Record<string, RegExp>,
][] = [
  [
    "every old label of every node is copied, with its value",
    [node("a", { old: worker("a") }), node("b", { old: { ...worker("b"), approved: "false" } })],
    { a: worker("a"), b: { ...worker("b"), approved: "false" } },
    {},
  ],
  ["a node of this release is left alone", [node("a", { old: worker("a"), now: worker("a") })], {}, {}],
  ["so is one that svc never labelled", [node("a", {})], {}, {}],
  [
    "a protected label wins over what the old one says now",
    [node("a", { old: worker("b"), now: worker("a") })],
    {},
    {},
  ],
  [
    "what a node has already is not written again",
    [node("a", { old: { role: "controller" }, now: { identity: "a" } })],
    { a: { role: "controller" } },
    {},
  ],
  [
    "a node that was never approved does not become so by labels that it gave itself",
    [node("a", { old: worker("a"), taints: [joinTaint] })],
    {},
    { a: /taint svc\.internal\/not-approved.*run svc node approve a$/ },
  ],
  [
    "another taint does not matter",
    [node("a", { old: worker("a"), taints: [{ key: "x", effect: "NoSchedule" }] })],
    { a: worker("a") },
    {},
  ],
  [
    "a node that calls itself another one is for a person to decide",
    [node("a", { old: worker("a") }), node("b", { old: worker("a") })],
    {},
    { a: /another node is a, too/, b: /says that it is a, .*run kubectl label node b .*identity=a/ },
  ],
  [
    "so is one whose name another node has taken by a protected label",
    [node("a", { old: worker("a") }), node("b", { now: worker("a") })],
    {},
    { a: /another node is a, too/ },
  ],
  [
    "so is a second controller",
    [node("a", { old: { role: "controller" }, now: {} }), node("b", { old: { role: "controller" } })],
    {},
    { a: /another node is the controller, too.*role=controller$/, b: /another node is the controller/ },
  ],
  [
    "one controller and its workers are the usual case",
    [node("a", { old: { role: "controller" } }), node("b", { old: worker("b") })],
    { a: { role: "controller" }, b: worker("b") },
    {},
  ],
];

describe("a node of an earlier release", () => {
  for (const [fact, nodes, copied, refused] of table)
    test(fact, () => {
      const plan = planRelabel(nodes);
      const wanted = Object.entries(copied).map(([name, labels]) => ({
        ...{ node: name, uid: `uid-${name}` },
        labels: keyed(nodeLabels, labels),
      }));
      assert.deepEqual(plan.copy, wanted);
      assert.deepEqual(
        plan.refused.map((one) => one.node),
        Object.keys(refused),
      );
      for (const { node: name, why } of plan.refused) assert.match(why, refused[name] ?? /never/);
    });
});

describe("what still selects by an old label", () => {
  const volume = (...keys: string[]) => ({
    metadata: { name: "v" },
    spec: {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: keys.map((key) => ({ key })) }] },
      },
    },
  });
  test("is a volume with one in its affinity", () => {
    assert.equal(oldKeyIn(volume("kubernetes.io/hostname", oldNodeLabels.role)), oldNodeLabels.role);
    assert.equal(oldKeyIn(volume(nodeLabels.role)), undefined);
    assert.equal(oldKeyIn({ metadata: { name: "v" } }), undefined);
  });
});
