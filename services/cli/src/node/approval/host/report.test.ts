import assert from "node:assert/strict";
import { test } from "node:test";
import { type HostReport, openFamilies, readReport, reportLimit } from "./report.ts";

const good = `svc-host-report 1
node node-2
version v1.30.4+k3s1
wireguard flannel-wg
chain inet drop
chain ip accept
ipv6 no
labels refused
taints refused
end
`;
const without = (line: string) => good.replace(`${line}\n`, "");

test("a whole report is read", () => {
  assert.deepEqual(readReport(good), {
    ...{ node: "node-2", version: "v1.30.4+k3s1", wireguard: ["flannel-wg"], hasIpv6: false },
    chains: [
      { family: "inet", otherwise: "drop" },
      { family: "ip", otherwise: "accept" },
    ],
    ...{ labels: "refused", taints: "refused" },
  });
});

test("what the script could not find is empty", () => {
  const text = good
    .replace("node node-2", "node ")
    .replace("version v1.30.4+k3s1", "version ")
    .replace("wireguard flannel-wg\n", "")
    .replace(/chain .*\n/g, "");
  const { node, version, wireguard, chains } = readReport(text) as HostReport;
  assert.deepEqual(
    { node, version, wireguard, chains },
    { node: "", version: "", wireguard: [], chains: [] },
  );
});

const foreign: [fact: string, text: string][] = [
  ["nothing", ""],
  ["a report that was cut off", good.slice(0, -1)],
  ["a report without its end", without("end")],
  ["a report without the labels", without("labels refused")],
  ["a report without the taints", without("taints refused")],
  ["a report without a node", without("node node-2")],
  ["a report without IPv6", without("ipv6 no")],
  ["another version of the report", good.replace("report 1", "report 2")],
  ["text before it", `Welcome!\n${good}`],
  ["text after it", `${good}bye\n`],
  ["two reports", good + good],
  ["an answer that is not known", good.replace("labels refused", "labels Refused")],
  ["a line twice", good.replace("labels refused", "labels allowed\nlabels refused")],
  ["lines in another order", without("ipv6 no").replace("node ", "ipv6 no\nnode ")],
  ["escape sequences", good.replace("node-2", "node-2\u001b[2J")],
  ["escape sequences in an interface", good.replace("flannel-wg", "\u001b]0;x\u0007")],
  ["carriage returns", good.replaceAll("\n", "\r\n")],
  ["a zero byte", good.replace("end", "\0end")],
  ["a name with capitals or spaces", good.replace("node-2", "node-2 ok")],
  ["a very long name", good.replace("node-2", "n".repeat(300))],
  ["a family that is not of addresses", good.replace("chain inet", "chain bridge")],
  [
    "more than a report can be",
    good.replace("chain ip", `${"chain ip drop\n".repeat(reportLimit / 14)}chain ip`),
  ],
  ["megabytes", "wireguard a\n".repeat(1_000_000)],
];
for (const [fact, text] of foreign)
  test(`${fact} is no report`, () => assert.equal(readReport(text), undefined));

type Chains = [family: "ip" | "ip6" | "inet", otherwise: "accept" | "drop"][];
const firewalls: [fact: string, chains: Chains, hasIpv6: boolean, open: string[]][] = [
  ["without a chain everything is open", [], true, ["IPv4", "IPv6"]],
  ["one chain for both families is enough", [["inet", "drop"]], true, []],
  ["a chain that accepts is none", [["inet", "accept"]], true, ["IPv4", "IPv6"]],
  [
    "a chain that drops is enough beside one that accepts",
    [
      ["inet", "accept"],
      ["inet", "drop"],
    ],
    true,
    [],
  ],
  ["a chain of IPv4 leaves IPv6 open", [["ip", "drop"]], true, ["IPv6"]],
  ["which does not matter without such an address", [["ip", "drop"]], false, []],
  ["a chain of IPv6 leaves IPv4 open", [["ip6", "drop"]], true, ["IPv4"]],
  [
    "a chain of each is enough",
    [
      ["ip", "drop"],
      ["ip6", "drop"],
    ],
    true,
    [],
  ],
];
for (const [fact, chains, hasIpv6, open] of firewalls)
  test(fact, () => {
    const all = chains.map(([family, otherwise]) => ({ family, otherwise }));
    assert.deepEqual(openFamilies({ chains: all, hasIpv6 }), open);
  });
