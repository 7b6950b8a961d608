// The programs that the script of `svc node approve --ssh` finds on a machine (../node/approval/host/script.ts), as the real ones answer.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type StandInMachine = {
  /** Output of `ip -o link show up type wireguard`. */
  wireguard: string;
  /** Output of `ip -6 -o address show scope global`. */
  ipv6: string;
  /** Output of `nft list ruleset`; it fails without one. */
  nft: string | undefined;
  /** Output of `iptables -S INPUT` and `ip6tables -S INPUT`. */
  iptables: string;
  ip6tables: string;
  iptablesVersion: string;
  /** Output of `k3s --version`. */
  version: string;
  whoami: string;
  /** What the API server says to the kubelet's patches; nothing when it lets it. */
  labels: string;
  taints: string;
};

const refusal = (node: string, why: string) =>
  `Error from server (Forbidden): nodes "${node}" is forbidden: ${why}`;

const refusedLabels = (node: string) =>
  refusal(node, "is not allowed to modify labels: svc.node-restriction.kubernetes.io/approved");

/** All is well there. */
export function goodMachine(node: string, version: string): StandInMachine {
  return {
    wireguard:
      "5: flannel-wg: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu 1420 qdisc noqueue state UNKNOWN mode DEFAULT",
    ipv6: "2: eth0    inet6 2001:db8::2/64 scope global",
    nft: "table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\t\ttcp dport 22 accept\n\t}\n}",
    ...{
      iptables: "-P INPUT ACCEPT",
      ip6tables: "-P INPUT ACCEPT",
      iptablesVersion: "iptables v1.8.9 (nf_tables)",
    },
    version: `k3s version ${version} (abcdef12)\ngo version go1.22.5`,
    whoami: `system:node:${node}`,
    labels: refusedLabels(node),
    taints: refusal(node, `node "${node}" is not allowed to modify taints`),
  };
}

const programs: Record<string, string> = {
  ip: `case "$*" in
"-o link show up type wireguard") cat "$facts/wireguard" ;;
"-6 -o address show scope global") cat "$facts/ipv6" ;;
*) exit 9 ;;
esac`,
  nft: `[ "$*" = "-s -t list ruleset" ] && cat "$facts/nft"`,
  iptables: `case "$*" in --version) cat "$facts/iptablesVersion" ;; "-S INPUT") cat "$facts/iptables" ;; *) exit 9 ;; esac`,
  ip6tables: `[ "$*" = "-S INPUT" ] && cat "$facts/ip6tables"`,
  // Only as the kubelet, and nothing that would be stored.
  k3s: `case "$*" in
--version) cat "$facts/version" ;;
"kubectl --kubeconfig /var/lib/rancher/k3s/agent/kubelet.kubeconfig --request-timeout=10s "*) ;;
*) exit 9 ;;
esac
case "$*" in
*" auth whoami -o jsonpath={.status.userInfo.username}") printf %s "$(cat "$facts/whoami")" ;;
*" patch node "*" --type merge --dry-run=server -p "*labels*) cat "$facts/labels" >&2; [ ! -s "$facts/labels" ] ;;
*" patch node "*" --type merge --dry-run=server -p "*taints*) cat "$facts/taints" >&2; [ ! -s "$facts/taints" ] ;;
esac`,
};

/** Writes the programs into `dir`/bin, and what they answer; a later call changes the answers. Resolves with that folder. */
export function writeMachine(dir: string, machine: StandInMachine): string {
  const [bin, facts] = [join(dir, "bin"), join(dir, "facts")];
  for (const folder of [bin, facts]) mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    const missing = name === "nft" && machine.nft === undefined ? "exit 1\n" : "";
    writeProgram(bin, name, `facts='${facts}'\n${missing}${text}`);
  }
  for (const [name, text] of Object.entries(machine))
    writeFileSync(join(facts, name), text ? `${text}\n` : "");
  return bin;
}

export function writeProgram(bin: string, name: string, text: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(bin, name), 0o755);
}
