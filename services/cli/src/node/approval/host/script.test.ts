// The script in a shell of this machine, with programs that answer as the real ones do.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { goodMachine, type StandInMachine, writeMachine } from "../../../testing/stand-in-machine.ts";
import { type HostReport, openFamilies, readReport } from "./report.ts";
import { hostScript } from "./script.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-script-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const good = goodMachine("node-2", "v1.30.4+k3s1");

function run(about: Partial<StandInMachine>): HostReport {
  const bin = writeMachine(dir, { ...good, ...about });
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  const { stdout, stderr, status } = spawnSync("/bin/sh", ["-s"], {
    input: hostScript,
    env,
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, "");
  return readReport(stdout) ?? assert.fail(stdout);
}

test("a machine where all is well says so", () => {
  assert.deepEqual(run({}), {
    ...{ node: "node-2", version: "v1.30.4+k3s1", wireguard: ["flannel-wg"], hasIpv6: true },
    ...{ chains: [{ family: "inet", otherwise: "drop" }], labels: "refused", taints: "refused" },
  });
});

const forbidden = (why: string) => `Error from server (Forbidden): nodes "node-2" is forbidden: ${why}`;
const rows: [fact: string, about: Partial<StandInMachine>, found: Partial<HostReport>][] = [
  ["without WireGuard there is no interface", { wireguard: "" }, { wireguard: [] }],
  [
    "an interface of a namespace has its plain name",
    { wireguard: "7: wg0@if2: <UP> mtu" },
    { wireguard: ["wg0"] },
  ],
  ["without a global address of IPv6 it has none", { ipv6: "" }, { hasIpv6: false }],
  ["without a version it is empty", { version: "command not found" }, { version: "" }],
  [
    "a kubelet that may edit is allowed",
    { labels: "", taints: "" },
    { labels: "allowed", taints: "allowed" },
  ],
  [
    "a refusal by rights alone is not clear",
    {
      labels: forbidden(
        'User "system:node:node-2" cannot patch resource "nodes" in API group "" at the cluster scope',
      ),
    },
    { labels: "unclear", taints: "refused" },
  ],
  [
    "nor is that of another node, which its own kubelet may still edit",
    { labels: forbidden('node "node-3" is not allowed to modify node "node-2"') },
    { labels: "unclear" },
  ],
  [
    "nor an API server that is away",
    { labels: "Unable to connect to the server: EOF" },
    { labels: "unclear" },
  ],
  ["nor a refusal of the other edit", { taints: good.labels }, { taints: "unclear" }],
  [
    "somebody who is no kubelet is nobody, and edits nothing",
    { whoami: "kubernetes-admin" },
    { node: "", labels: "unclear", taints: "unclear" },
  ],
  [
    "nor is a name that is none",
    { whoami: "system:node:-o x" },
    { node: "", labels: "unclear", taints: "unclear" },
  ],
];
for (const [fact, about, found] of rows)
  test(fact, () => {
    const all = run(about);
    const named = Object.keys(found).map((key) => [key, all[key as keyof HostReport]]);
    assert.deepEqual(Object.fromEntries(named), found);
  });

const input = (rules: string, { family = "inet", policy = "accept" } = {}) =>
  `table ${family} filter {\n\tset known {\n\t\ttype ipv4_addr\n\t}\n\tchain input {\n\t\ttype filter hook input priority filter + 10; policy ${policy};\n${rules}\t}\n\tchain output {\n\t\ttype filter hook output priority filter; policy drop;\n\t\tdrop\n\t}\n}`;
const legacy = { nft: undefined, iptablesVersion: "iptables v1.8.9 (legacy)" };
const both = ["IPv4", "IPv6"];
const firewalls: [fact: string, about: Partial<StandInMachine>, open: string[]][] = [
  ["a chain that accepts and has no last rule is open", { nft: input("\t\tct state invalid drop\n") }, both],
  ["a policy to drop is a firewall", { nft: input("", { policy: "drop" }) }, []],
  ["a last rule that drops is one", { nft: input("\t\ttcp dport 22 accept\n\t\tcounter drop\n") }, []],
  [
    "a last rule that rejects is one, as firewalld has it",
    { nft: input('\t\tiifname "lo" accept\n\t\treject with icmpx admin-prohibited\n') },
    [],
  ],
  [
    "a rule that accepts everything before is none",
    { nft: input('\t\taccept comment "drop"\n\t\tdrop\n', { policy: "drop" }) },
    both,
  ],
  ["a table of IPv4 leaves IPv6 open", { nft: input("", { policy: "drop", family: "ip" }) }, ["IPv6"]],
  ["one of bridges counts for nothing", { nft: input("", { policy: "drop", family: "bridge" }) }, both],
  ["no rules at all are open", { nft: "" }, both],
  ["without nft and iptables that drop it is open", legacy, both],
  [
    "iptables of before nftables count",
    { ...legacy, iptables: "-P INPUT DROP\n-A INPUT -i lo -j ACCEPT" },
    ["IPv6"],
  ],
  [
    "so does their last rule, for each family",
    {
      ...legacy,
      iptables:
        "-P INPUT ACCEPT\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\n-A INPUT -j REJECT --reject-with icmp-port-unreachable",
      ip6tables: "-P INPUT ACCEPT\n-A INPUT -j DROP",
    },
    [],
  ],
  ["unless they accept everything first", { ...legacy, iptables: "-P INPUT DROP\n-A INPUT -j ACCEPT" }, both],
];
for (const [fact, about, open] of firewalls)
  test(fact, () => assert.deepEqual(openFamilies(run(about)), open));
