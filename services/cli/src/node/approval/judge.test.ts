import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostReport } from "./host/report.ts";
import { type Facts, judgeNode, type NodeFacts, type PathResult } from "./judge.ts";

const machine = (name: string, about: Partial<NodeFacts> = {}): NodeFacts => ({
  ...{ name, isReady: true, architecture: "amd64", kubeletVersion: "v1.30.4+k3s1" },
  encryption: { state: "on", by: "Flannel" },
  ...about,
});
const path = (about: Partial<PathResult>): PathResult => ({
  ...{ from: "client on a", to: "b", why: "no policy lets it in", source: "10.0.0.5" },
  ...{ isAllowed: true, isOpen: true, seen: "10.0.0.5" },
  ...about,
});
const facts = (about: Partial<Facts> = {}): Facts => ({
  ...{ node: machine("b"), reference: machine("a") },
  kubelet: { taints: "refused", labels: "refused" },
  image: { name: "registry/svc:1" },
  paths: [path({}), path({ from: "stranger on a", isAllowed: false, isOpen: false, seen: undefined })],
  ...about,
});
const withNode = (about: Partial<NodeFacts>) => facts({ node: machine("b", about) });

const machineOf = (about: Partial<HostReport>): HostReport => ({
  ...{ node: "b", version: "v1.30.4+k3s1", wireguard: ["flannel-wg"], hasIpv6: false },
  ...{ chains: [{ family: "inet", otherwise: "drop" }], labels: "refused", taints: "refused" },
  ...about,
});

/** Check and a word of what it says, of everything that keeps the node from being approved. */
type Row = [fact: string, facts: Facts, confirmed: string[], wrong: [check: string, says: RegExp][]];
const unseen: Row[2] = ["host-firewall"];
const table: Row[] = [
  ["a node where all is well is approved", facts(), unseen, []],
  ["what svc cannot see has to be confirmed", facts(), [], [["host firewall", /--confirm host-firewall/]]],
  ["a node that is not Ready fails", withNode({ isReady: false }), unseen, [["ready", /not Ready/]]],
  [
    "another architecture fails",
    withNode({ architecture: "arm64" }),
    unseen,
    [["architecture", /is arm64, a has amd64/]],
  ],
  [
    "a node that does not say what it is fails",
    withNode({ architecture: "", kubeletVersion: "" }),
    unseen,
    [
      ["architecture", /unknown/],
      ["version", /unknown/],
    ],
  ],
  [
    "another patch of the same minor version is the same",
    withNode({ kubeletVersion: "v1.30.9" }),
    unseen,
    [],
  ],
  [
    "another minor version fails",
    withNode({ kubeletVersion: "v1.3.4" }),
    unseen,
    [["version", /same minor version/]],
  ],
  [
    "clear text fails, and cannot be confirmed away",
    withNode({ encryption: { state: "off", by: "Flannel with vxlan" } }),
    [...unseen, "encryption"],
    [["encryption", /Flannel with vxlan sends in clear text/]],
  ],
  [
    "encryption that nothing tells of has to be confirmed",
    withNode({ encryption: { state: "unknown" } }),
    unseen,
    [["encryption", /--confirm encryption/]],
  ],
  ["and it can be", withNode({ encryption: { state: "unknown" } }), [...unseen, "encryption"], []],
  [
    "a kubelet that may change taints or labels fails, and cannot be confirmed away",
    facts({ kubelet: { taints: "allowed", labels: "allowed" } }),
    [...unseen, "kubelet-rights"],
    [
      ["kubelet and taints", /NodeRestriction/],
      ["kubelet and labels", /authorizer Node/],
    ],
  ],
  [
    "rights that cannot be asked for have to be confirmed",
    facts({ kubelet: { taints: "unknown", labels: "refused" } }),
    unseen,
    [["kubelet and taints", /--confirm kubelet-rights/]],
  ],
  [
    "an image that cannot be pulled fails, and so do the paths that were not probed",
    facts({
      image: { name: "registry/svc:1", problem: "ImagePullBackOff" },
      paths: { problem: "not checked: no pod ran on the node" },
    }),
    unseen,
    [
      ["image", /did not run on b: ImagePullBackOff/],
      ["network", /not checked/],
    ],
  ],
  [
    "a denied path that connects fails",
    facts({ paths: [path({ isAllowed: false })] }),
    unseen,
    [["client on a to b", /connects though no policy lets it in/]],
  ],
  [
    "an allowed path that does not connect fails",
    facts({ paths: [path({ isOpen: false, seen: undefined })] }),
    unseen,
    [["client on a to b", /firewalls/]],
  ],
  [
    "a pod that is seen under another address fails",
    facts({ paths: [path({ seen: "192.168.1.4" })] }),
    unseen,
    [["client on a to b", /seen as 192.168.1.4 instead of 10.0.0.5/]],
  ],
  ["an installation without network policies has none to check", facts({ paths: "without" }), unseen, []],
  ["what the machine says over SSH needs no confirmation", facts({ host: machineOf({}) }), [], []],
  [
    "encryption that only the machine tells of is enough",
    { ...withNode({ encryption: { state: "unknown" } }), host: machineOf({}) },
    [],
    [],
  ],
  [
    "but not against the annotation of the network plugin",
    { ...withNode({ encryption: { state: "off", by: "Flannel with vxlan" } }), host: machineOf({}) },
    [],
    [["encryption", /clear text/]],
  ],
  [
    "nor does the annotation count against the machine",
    facts({ host: machineOf({ wireguard: [] }) }),
    ["encryption"],
    [["machine: WireGuard", /no interface/]],
  ],
  [
    "a firewall that the machine lacks cannot be confirmed",
    facts({ host: machineOf({ chains: [] }) }),
    unseen,
    [["host firewall", /nothing there drops/]],
  ],
  [
    "the word of the machine is not enough for the rights of its kubelet",
    facts({ host: machineOf({}), kubelet: { taints: "unknown", labels: "refused" } }),
    [],
    [["kubelet and taints", /--confirm kubelet-rights/]],
  ],
  [
    "a machine that was asked and not reached fails, whatever is confirmed",
    facts({ host: { problem: "b: no answer" } }),
    unseen,
    [["machine", /no answer/]],
  ],
];
for (const [fact, given, confirmed, wrong] of table)
  test(fact, () => {
    const found = judgeNode(given, new Set(confirmed)).filter(({ ok }) => !ok);
    assert.deepEqual(
      found.map(({ check }) => check),
      wrong.map(([check]) => check),
    );
    for (const [at, [, says]] of wrong.entries()) assert.match(found[at]?.detail ?? "", says);
  });

test("what was confirmed is never called checked", () => {
  const [firewall] = judgeNode(facts(), new Set(unseen)).slice(-1);
  assert.equal(firewall?.detail, "confirmed by you, not checked by svc");
});
