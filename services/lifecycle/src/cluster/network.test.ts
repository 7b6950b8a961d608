// The shipped NetworkPolicies, evaluated as a cluster does: what one allows is allowed, a pod selected by one is
// otherwise closed.

import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { after, before, describe, test } from "node:test";
import { type KubeObject, resource } from "@svc/kube";
import { startTestCluster, type TestCluster } from "../testing/fixture.ts";
import { applyManifest, readManifest } from "../testing/release-manifests.ts";
import { managedLabels } from "./resource.ts";

type Labels = Record<string, string>;
type Selector = { matchLabels?: Labels; matchExpressions?: { key: string; operator: "Exists" }[] };
type PeerRule = {
  ipBlock?: { cidr: string; except?: string[] };
  namespaceSelector?: Selector;
  podSelector?: Selector;
};
type Rule = { from?: PeerRule[]; to?: PeerRule[]; ports?: { port: number }[] };
type Policy = KubeObject & {
  spec: { podSelector: Selector; policyTypes: string[]; egress?: Rule[]; ingress?: Rule[] };
};
/** An external address, or a pod of a namespace. */
type Peer = { ip: string } | { namespace: string; labels: Labels };

const policies = readManifest("base/network-game.yaml") as Policy[];
const buildPolicies = (readManifest("base/build-namespace.yaml") as Policy[]).filter(
  ({ kind }) => kind === "NetworkPolicy",
);
const server = managedLabels("survival");
const login = { ...managedLabels("login"), "svc.internal/system-role": "login" };
const job = { "svc.internal/component": "world-job", "svc.internal/server": "survival" };
const dns = { namespace: "kube-system", labels: { "k8s-app": "kube-dns" } };
const face = { namespace: "svc", labels: { "app.kubernetes.io/name": "gateway-internal" } };
const operator = { namespace: "svc", labels: { "app.kubernetes.io/name": "lifecycle" } };
const proxy = { namespace: "svc", labels: { "app.kubernetes.io/name": "proxy" } };
const impostor = { ...proxy, namespace: "minecraft" };
const storage = { namespace: "svc", labels: { "app.kubernetes.io/name": "storage" } };
const drill = { ...server, "svc.internal/drill": "d-1" };
const neighbour = { namespace: "minecraft", labels: server };

const fits = (selector: Selector | undefined, labels: Labels) =>
  Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
  (selector?.matchExpressions ?? []).every(({ key }) => labels[key] !== undefined);

function isInBlock({ cidr, except = [] }: { cidr: string; except?: string[] }, ip: string): boolean {
  const family = ip.includes(":") ? "ipv6" : "ipv4";
  const holds = (range: string) => {
    const [net = "", bits = ""] = range.split("/");
    const list = new BlockList();
    list.addSubnet(net, Number(bits), net.includes(":") ? "ipv6" : "ipv4");
    return (net.includes(":") ? "ipv6" : "ipv4") === family && list.check(ip, family);
  };
  return holds(cidr) && !except.some(holds);
}

function isPeer(rule: PeerRule, peer: Peer): boolean {
  if (rule.ipBlock) return "ip" in peer && isInBlock(rule.ipBlock, peer.ip);
  if ("ip" in peer) return false;
  const inNamespace = fits(rule.namespaceSelector, { "kubernetes.io/metadata.name": peer.namespace });
  return inNamespace && fits(rule.podSelector, peer.labels);
}

type Direction = "Egress" | "Ingress";

type Row = [fact: string, direction: Direction, pod: Labels, peer: Peer, port: number, may: boolean];
type About = { peer: Peer; port: number; among?: readonly Policy[] };

function mayReach(direction: Direction, pod: Labels, about: About): boolean {
  const mine = (about.among ?? policies)
    .map(({ spec }) => spec)
    .filter((spec) => spec.policyTypes.includes(direction) && fits(spec.podSelector, pod));
  assert.ok(mine.length > 0, "the pod is not fenced in at all");
  const rules = mine.flatMap(({ egress, ingress }) => (direction === "Egress" ? egress : ingress) ?? []);
  return rules.some(({ from, to, ports }) => {
    const peers = from ?? to;
    const isPort = !ports || ports.some(({ port }) => port === about.port);
    return isPort && (!peers || peers.some((rule) => isPeer(rule, about.peer)));
  });
}

describe("the fences around game servers", () => {
  const rows: Row[] = [
    ["a server reaches the internet", "Egress", server, { ip: "93.184.216.34" }, 443, true],
    ["a server reaches the internet of today", "Egress", server, { ip: "2606:4700::1" }, 443, true],
    ["a server asks for names", "Egress", server, dns, 53, true],
    ["a server reaches nothing else of the cluster's own", "Egress", server, dns, 443, false],
    ["a server does not reach the internal face", "Egress", server, face, 8081, false],
    ["a server does not reach another server", "Egress", server, neighbour, 25_575, false],
    ["the login gate reaches the internal face", "Egress", login, face, 8081, true],
    ["the login gate reaches no other port there", "Egress", login, face, 9090, false],
    ["the login gate reaches no other service", "Egress", login, operator, 8081, false],
    ["a world Job reaches the internal face", "Egress", job, face, 8081, true],
    ["a world Job asks for names", "Egress", job, dns, 53, true],
    ["a world Job reaches no other service", "Egress", job, operator, 8081, false],
    ["a world Job reaches no other port there", "Egress", job, face, 9090, false],
    ["a world Job reaches no server", "Egress", job, neighbour, 25_565, false],
    ["a world Job does not reach the internet", "Egress", job, { ip: "93.184.216.34" }, 443, false],
    ["a world Job does not reach the API server", "Egress", job, { ip: "10.96.0.1" }, 443, false],
    ["nobody talks to a world Job, no service", "Ingress", job, operator, 80, false],
    ["nobody talks to a world Job, no server", "Ingress", job, neighbour, 80, false],
    ["nobody talks to a world Job from outside", "Ingress", job, { ip: "10.1.2.3" }, 80, false],
    ["players come in through the proxy", "Ingress", server, proxy, 25_565, true],
    ["players of the gate come in through the proxy", "Ingress", login, proxy, 25_565, true],
    ["nobody comes in past the proxy", "Ingress", server, { ip: "10.1.2.3" }, 25_565, false],
    ["nobody comes in past the proxy over IPv6", "Ingress", server, { ip: "2001:db8::1" }, 25_565, false],
    ["no server joins another", "Ingress", server, neighbour, 25_565, false],
    ["no server joins the gate", "Ingress", login, neighbour, 25_565, false],
    ["no pod joins by the proxy's name alone", "Ingress", server, impostor, 25_565, false],
    ["the proxy talks no RCON", "Ingress", server, proxy, 25_575, false],
    ["the operator joins no server", "Ingress", server, operator, 25_565, false],
    ["storage joins the copy of a drill", "Ingress", drill, storage, 25_565, true],
    ["storage joins no server", "Ingress", server, storage, 25_565, false],
    ["the operator talks RCON", "Ingress", server, operator, 25_575, true],
    ["no other service talks RCON", "Ingress", server, face, 25_575, false],
    ["no server talks RCON to another", "Ingress", server, neighbour, 25_575, false],
    ["nobody outside talks RCON", "Ingress", server, { ip: "93.184.216.34" }, 25_575, false],
    ...[
      "10.96.0.1",
      "172.31.255.254",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "127.0.0.1",
      "fd00::1",
      "fe80::1",
      "::1",
      "::ffff:10.0.0.1",
    ].map((ip): Row => [`a server does not reach ${ip}`, "Egress", server, { ip }, 443, false]),
  ];
  for (const [fact, direction, pod, peer, port, may] of rows) {
    test(fact, () => assert.equal(mayReach(direction, pod, { peer, port }), may));
  }
});

describe("the fence around builds", () => {
  const build = { "svc.internal/component": "build-job", "svc.internal/managed-by": "svc-builds" };
  const pack = { ...build, "svc.internal/build-downloads": "pack" };
  const registry = { namespace: "svc", labels: { "app.kubernetes.io/name": "registry" } };
  const internet = { ip: "93.184.216.34" };
  const rows: Row[] = [
    ["a build asks for names", "Egress", build, dns, 53, true],
    ["a build reaches the registry", "Egress", build, registry, 5_000, true],
    ["a build reaches the internal face", "Egress", build, face, 8_081, true],
    ["a build reaches no other service", "Egress", build, operator, 8_081, false],
    ["a build reaches no server", "Egress", build, neighbour, 25_565, false],
    ["a build does not reach the internet", "Egress", build, internet, 443, false],
    ["files of a pack come over TLS", "Egress", pack, internet, 443, true],
    ["files of a pack come over TLS and IPv6", "Egress", pack, { ip: "2606:4700::1" }, 443, true],
    ["files of a pack come over nothing else", "Egress", pack, internet, 80, false],
    ...["10.96.0.1", "169.254.169.254", "192.168.1.1", "fd00::1", "fe80::1", "::ffff:10.0.0.1"].map(
      (ip): Row => [`a pack does not reach ${ip}`, "Egress", pack, { ip }, 443, false],
    ),
    ["no service talks to a build", "Ingress", build, operator, 80, false],
    ["no server talks to a build", "Ingress", build, neighbour, 80, false],
    ["nobody outside talks to a build", "Ingress", pack, internet, 80, false],
  ];
  for (const [fact, direction, pod, peer, port, may] of rows) {
    test(fact, () => assert.equal(mayReach(direction, pod, { peer, port, among: buildPolicies }), may));
  }
});

describe("on a cluster", () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster({ nodes: 0 });
  });
  after(() => cluster.close());

  test("all policies apply, also twice, and match the file", async () => {
    await applyManifest(cluster.kube, "base/network-game.yaml");
    await applyManifest(cluster.kube, "base/network-game.yaml");
    const group = "networking.k8s.io";
    const about = {
      group,
      version: "v1",
      plural: "networkpolicies",
      kind: "NetworkPolicy",
      namespaced: true,
    };
    const { items } = await cluster.kube.list(resource<Policy>(about), { namespace: "minecraft" });
    const byName = (list: readonly Policy[]) =>
      Object.fromEntries(list.map(({ metadata, spec }) => [metadata.name, spec]));
    assert.deepEqual(byName(items), byName(policies));
  });
});
