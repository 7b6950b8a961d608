import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pod, PodSpec } from "../objects.ts";
import type { Claim, PersistentVolume } from "../volume/objects.ts";
import type { Node } from "./decide.ts";
import { place } from "./decide.ts";

function nodeOf(name: string, spec: Node["spec"] = {}, ready = true): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
    spec,
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

const podOf = (spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: { containers: [], ...spec },
});

const NODES = [nodeOf("local-1"), nodeOf("local-2")];
const none = { load: new Map<string, number>(), claims: [] };

describe("the scheduler", () => {
  it("prefers the node with fewer pods", () => {
    assert.deepEqual(place({ ...none, pod: podOf(), nodes: NODES, load: new Map([["local-1", 1]]) }), {
      node: "local-2",
    });
  });

  it("respects the node selector of the pod", () => {
    const pod = podOf({ nodeSelector: { "kubernetes.io/hostname": "local-2" } });
    assert.deepEqual(place({ ...none, pod, nodes: NODES }), { node: "local-2" });
  });

  it("respects the name of a node, whatever labels another one has", () => {
    const byName = { matchFields: [{ key: "metadata.name", operator: "In", values: ["local-2"] }] };
    const terms = { nodeSelectorTerms: [byName] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: terms };
    const pod = podOf({ affinity: { nodeAffinity } });
    const renamed = nodeOf("local-1");
    renamed.metadata.labels = { "kubernetes.io/hostname": "local-2", "metadata.name": "local-2" };
    assert.deepEqual(place({ ...none, pod, nodes: [renamed, nodeOf("local-2")] }), { node: "local-2" });
    assert.match((place({ ...none, pod, nodes: [renamed] }) as { refused: string }).refused, /affinity/);
  });

  it("places a pod on the node of its volume", () => {
    const claim: Claim = {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "w" },
      spec: {},
    };
    const expression = { key: "kubernetes.io/hostname", operator: "In", values: ["local-2"] };
    const volume: PersistentVolume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: "pv" },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } } },
    };
    const claims = [{ name: "w", claim, volume }];
    assert.deepEqual(place({ ...none, pod: podOf(), nodes: NODES, claims }), { node: "local-2" });
  });

  it("reports why no node is suitable", () => {
    const taint = { key: "game", value: "no", effect: "NoSchedule" };
    const nodes = [
      nodeOf("a", { unschedulable: true }),
      nodeOf("b", {}, false),
      nodeOf("c", { taints: [taint] }),
    ];
    assert.deepEqual(place({ ...none, pod: podOf(), nodes }), {
      refused:
        "0/3 nodes are available: 1 node(s) were unschedulable, 1 node(s) were not ready, 1 node(s) had untolerated taint {game: no}.",
    });
    const tolerant = podOf({ tolerations: [{ key: "game", operator: "Exists" }] });
    assert.deepEqual(place({ ...none, pod: tolerant, nodes }), { node: "c" });
  });

  it("takes a cordoned node for a pod that tolerates it", () => {
    const nodes = [nodeOf("a", { unschedulable: true })];
    const toleration = { key: "node.kubernetes.io/unschedulable", operator: "Exists" };
    const tolerant = podOf({ tolerations: [{ ...toleration, effect: "NoSchedule" }] });
    assert.deepEqual(place({ ...none, pod: tolerant, nodes }), { node: "a" });
    const other = podOf({ tolerations: [{ ...toleration, effect: "NoExecute" }] });
    assert.ok("refused" in place({ ...none, pod: other, nodes }));
  });

  it("waits for a claim that does not exist", () => {
    const claims = [{ name: "w", claim: undefined, volume: undefined }];
    assert.deepEqual(place({ ...none, pod: podOf(), nodes: NODES, claims }), {
      refused: 'persistentvolumeclaim "w" not found',
    });
  });
});
