import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Node } from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";
import type { VolumePlace } from "../volume/place.ts";
import { decidePlacement, type Observed, pinned, pinOf } from "./pin.ts";

const node = (name: string, identity?: string): Node => ({
  ...{ apiVersion: "v1", kind: "Node" },
  metadata: { name, labels: identity === undefined ? {} : { [nodeLabels.identity]: identity } },
});
const [a, b, plain] = [node("node-a", "a"), node("node-b", "b"), node("plain")];
const on = (one: Node): VolumePlace => ({ is: "on", node: one });
const anywhere: VolumePlace = { is: "anywhere" };
const unbound: VolumePlace = { is: "unbound" };
const unknown: VolumePlace = { is: "unknown", selector: "kubernetes.io/hostname In x" };

const runsOn = (identity: string) => ({ pin: { identity }, sendsArchive: false });
const sendsFrom = (identity: string) => ({ pin: { identity }, sendsArchive: true });
const runsAnywhere = { pin: undefined, sendsArchive: false };
const refused = (why: RegExp) => why;

type About = Partial<Omit<Observed, "nodes">>;
const table: [fact: string, about: About, expected: object][] = [
  ["that mounts nothing runs anywhere", { bound: "a" }, runsAnywhere],
  ["runs on the node of the world", { world: on(a) }, runsOn("a")],
  ["also when its server is bound to another one", { world: on(a), bound: "b" }, runsOn("a")],
  [
    "runs by the name of a node without the label",
    { world: on(plain) },
    { pin: { name: "plain" }, sendsArchive: false },
  ],
  ["runs on the node that it is asked to", { asked: "b", world: on(a), bound: "a" }, runsOn("b")],
  [
    "which may have its name only",
    { asked: "plain", world: on(plain) },
    { pin: { name: "plain" }, sendsArchive: false },
  ],
  ["which may be gone", { asked: "c", world: unbound }, runsOn("c")],

  ["of a volume that is made runs where the server does", { world: unbound, bound: "a" }, runsOn("a")],
  ["or anywhere", { world: unbound }, runsAnywhere],
  ["of a volume of any node runs where the server does", { world: anywhere, bound: "a" }, runsOn("a")],
  ["or anywhere, as on a cluster of one node", { world: anywhere }, runsAnywhere],
  ["of a volume of an unknown node runs where the server does", { world: unknown, bound: "a" }, runsOn("a")],
  [
    "or not at all",
    { world: unknown },
    refused(/volume of the world selects .*hostname In x.*set spec.nodeName of its server/),
  ],

  ["without a world runs where the archive folder is", { archive: on(b) }, runsOn("b")],
  ["or anywhere, if any node has it", { archive: anywhere, bound: "a" }, runsAnywhere],
  [
    "or not at all",
    { archive: unknown, canSend: true },
    refused(/volume of the archive selects .*role=controller/),
  ],

  ["with both on one node mounts both", { world: on(a), archive: on(a), canSend: true }, runsOn("a")],
  ["sends the archive to another node", { world: on(a), archive: on(b), canSend: true }, sendsFrom("a")],
  [
    "which needs an address",
    { world: on(a), archive: on(b) },
    refused(/on a and the archive folder on b; set storage.internal_url/),
  ],
  [
    "sends it to a folder that is nobody knows where",
    { world: on(a), archive: unknown, canSend: true },
    sendsFrom("a"),
  ],
  ["does not mount that", { world: on(a), archive: unknown }, refused(/volume of the archive/)],
  [
    "sends it for a volume that is made where the server runs",
    { world: unbound, bound: "a", archive: on(b), canSend: true },
    sendsFrom("a"),
  ],
  [
    "makes the volume beside the folder otherwise",
    { world: unbound, archive: on(b), canSend: true },
    runsOn("b"),
  ],
  [
    "of a volume of any node runs where the folder is",
    { world: anywhere, bound: "a", archive: on(b), canSend: true },
    runsOn("b"),
  ],
  [
    "of a world with its node mounts a folder of any node",
    { world: on(a), archive: anywhere, canSend: true },
    runsOn("a"),
  ],
  [
    "of volumes of any node runs where the server does",
    { world: anywhere, bound: "a", archive: anywhere },
    runsOn("a"),
  ],
];

describe("a Job", () => {
  for (const [fact, about, expected] of table)
    test(fact, () => {
      const placement = decidePlacement({ nodes: [a, b, plain], canSend: false, ...about });
      if (!(expected instanceof RegExp)) return assert.deepEqual(placement, expected);
      assert.match("refused" in placement ? placement.refused : "", expected);
    });
});

describe("the pin of a pod", () => {
  test("is the protected label, on cordoned nodes, too", () => {
    const { nodeSelector, tolerations } = pinned(pinOf(a));
    assert.deepEqual(nodeSelector, { [nodeLabels.identity]: "a" });
    assert.deepEqual(
      tolerations?.map(({ key }) => key),
      ["node.kubernetes.io/unschedulable"],
    );
  });

  test("is the name of a node without it, and leaves other affinities", () => {
    const podAntiAffinity = {};
    const { affinity, nodeSelector } = pinned(pinOf(plain), { affinity: { podAntiAffinity } });
    assert.equal(nodeSelector, undefined);
    const field = { key: "metadata.name", operator: "In", values: ["plain"] };
    assert.deepEqual(affinity, {
      podAntiAffinity,
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [field] }] },
      },
    });
  });

  test("is nothing where nothing says a node", () => assert.deepEqual(pinned(undefined), {}));
});
