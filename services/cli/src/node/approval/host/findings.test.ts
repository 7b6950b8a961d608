import assert from "node:assert/strict";
import { test } from "node:test";
import { type HostAnswer, hostFindings } from "./findings.ts";
import type { HostReport } from "./report.ts";

const expected = { name: "node-2", kubeletVersion: "v1.30.4+k3s1" };
const report = (about: Partial<HostReport> = {}): HostReport => ({
  ...{ node: "node-2", version: "v1.30.4+k3s1", wireguard: ["flannel-wg"], hasIpv6: false },
  ...{ chains: [{ family: "inet", otherwise: "drop" }], labels: "refused", taints: "refused" },
  ...about,
});

/** Everything that keeps the node from being approved. */
type Row = [fact: string, host: HostAnswer, wrong: [check: string, says: RegExp][]];
const table: Row[] = [
  ["a machine where all is well passes", report(), []],
  ["a machine that was not reached fails", { problem: "no key" }, [["machine", /^no key$/]]],
  ["another machine fails", report({ node: "node-3" }), [["machine", /is node-3, not node-2; give --ssh/]]],
  ["one whose kubelet gives no name fails", report({ node: "" }), [["machine", /kubectl 1\.28/]]],
  [
    "another version than the one that runs fails",
    report({ version: "v1.30.5+k3s1" }),
    [["machine: version", /v1.30.5\+k3s1 is installed, v1.30.4\+k3s1 runs; restart/]],
  ],
  ["no version fails", report({ version: "" }), [["machine: version", /no kubelet is installed/]]],
  ["no WireGuard fails", report({ wireguard: [] }), [["machine: WireGuard", /wireguard-native/]]],
  ["no firewall fails", report({ chains: [] }), [["host firewall", /packets of IPv4 that no rule allows/]]],
  [
    "a kubelet that may edit fails",
    report({ labels: "allowed", taints: "allowed" }),
    [
      ["machine: labels", /may change the labels that svc trusts; switch on .* NodeRestriction/],
      ["machine: taints", /may change its taints/],
    ],
  ],
  [
    "anything but a clear refusal fails",
    report({ labels: "unclear", taints: "unclear" }),
    [
      ["machine: labels", /is not clear: NodeRestriction did not refuse it/],
      ["machine: taints", /is not clear/],
    ],
  ],
];
for (const [fact, host, wrong] of table)
  test(fact, () => {
    const found = hostFindings(host, expected).filter(({ ok }) => !ok);
    assert.deepEqual(
      found.map(({ check }) => check),
      wrong.map(([check]) => check),
    );
    for (const [at, [, says]] of wrong.entries()) assert.match(found[at]?.detail ?? "", says);
  });

test("a node without a version of its own matches no machine", () => {
  const found = hostFindings(report({ version: "" }), { name: "node-2", kubeletVersion: "" });
  assert.ok(found.some(({ check, ok }) => check === "machine: version" && !ok));
});
