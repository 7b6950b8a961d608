// What a machine says of itself over SSH, judged (docs/reference/moves.md#approve-ssh). Pure.

import type { Finding } from "../../../findings.ts";
import { type HostReport, openFamilies } from "./report.ts";

/** What the API server says of the node that the machine should be. */
type Expected = { name: string; kubeletVersion: string };

export type HostAnswer = HostReport | { problem: string };

const ok = (check: string, detail: string): Finding => ({ check, ok: true, detail });
const bad = (check: string, detail: string): Finding => ({ check, ok: false, detail });

export function hostFindings(host: HostAnswer, expected: Expected): Finding[] {
  if ("problem" in host) return [bad("machine", host.problem)];
  return [
    nodeFinding(host, expected),
    versionFinding(host, expected),
    wireguardFinding(host),
    firewallFinding(host),
    ...editFindings(host),
  ];
}

function nodeFinding({ node }: HostReport, { name }: Expected): Finding {
  const check = "machine";
  if (node === name) return ok(check, `the kubelet there is that of ${name}`);
  if (node !== "") return bad(check, `it is ${node}, not ${name}; give --ssh the address of ${name}`);
  return bad(
    check,
    "its kubelet could not ask the API server who it is; the machine needs a running k3s, RKE2 or kubeadm node with kubectl 1.28 or newer",
  );
}

function versionFinding({ version }: HostReport, { kubeletVersion }: Expected): Finding {
  const check = "machine: version";
  if (version !== "" && version === kubeletVersion) return ok(check, version);
  const detail = `${version || "no kubelet"} is installed, ${kubeletVersion || "none"} runs; restart the kubelet, or find out what else calls itself that node`;
  return bad(check, detail);
}

function wireguardFinding({ wireguard }: HostReport): Finding {
  const check = "machine: WireGuard";
  if (wireguard.length > 0) return ok(check, `${wireguard.join(", ")} up`);
  return bad(
    check,
    "no interface of type wireguard is up; switch on WireGuard in the network plugin of all nodes (k3s: --flannel-backend=wireguard-native)",
  );
}

function firewallFinding(host: HostReport): Finding {
  const check = "host firewall";
  const open = openFamilies(host);
  if (open.length === 0) return ok(check, "the machine drops incoming packets that no rule allows");
  return bad(
    check,
    `nothing there drops incoming packets of ${open.join(" and ")} that no rule allows; set the policy of the input chain to drop, and let in only the other nodes and SSH`,
  );
}

function editFindings({ node, labels, taints }: HostReport): Finding[] {
  const edits = [
    { check: "machine: labels", answer: labels, what: "the labels that svc trusts" },
    { check: "machine: taints", answer: taints, what: "its taints" },
  ];
  return edits.map(({ check, answer, what }) => {
    if (answer === "refused") return ok(check, `its kubelet tried to change ${what}, and was refused`);
    const mend =
      "switch on the admission plugin NodeRestriction and the authorizer Node of the API server (docs/reference/moves.md#labels)";
    if (answer === "allowed") return bad(check, `its kubelet may change ${what}; ${mend}`);
    const why = node === "" ? "its kubelet could not ask" : "NodeRestriction did not refuse it";
    return bad(check, `whether its kubelet may change ${what} is not clear: ${why}; ${mend}`);
  });
}
