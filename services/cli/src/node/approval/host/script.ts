// The shell script that reads a machine, as svc sends it over SSH. It is the same for every machine and changes nothing there.

import { nodeLabels } from "@svc/proto/node-labels";

const { identity, role, approved } = nodeLabels;

// The API server must refuse both, and stores neither: they are sent as a dry run.
const labelPatch = JSON.stringify({
  metadata: { labels: { [identity]: "probe", [role]: "probe", [approved]: "probe" } },
});
const taintPatch = JSON.stringify({
  spec: { taints: [{ key: "svc.internal/probe", effect: "NoSchedule" }] },
});

/** What the script runs, for people who want to know before. */
export const hostCommands = [
  "ip link show and ip address show: interfaces of WireGuard, addresses of IPv6",
  "nft list ruleset, or iptables -S INPUT and ip6tables -S INPUT: what drops incoming packets",
  "k3s, rke2 or kubelet --version",
  "kubectl auth whoami and kubectl patch node --dry-run=server with the kubelet's own kubeconfig: both patches must be refused",
] as const;

/** What ssh starts there: the script as root, from its standard input. */
export const remoteCommand = `sh -c 'if [ "$(id -u)" = 0 ]; then exec sh -s; fi; exec sudo -n sh -s'`;

/**
 * Prints what `readReport` reads. A chain is a hook of incoming packets, and drops what it does not allow by its policy or by a last
 * rule without a condition, unless an earlier rule accepts everything. Everything is inside functions, because the shell reads the rest of
 * the script from the same input as its commands.
 */
export const hostScript = String.raw`
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# kubectl as the kubelet of this machine
as_kubelet() {
  if command -v k3s >/dev/null; then
    k3s kubectl --kubeconfig /var/lib/rancher/k3s/agent/kubelet.kubeconfig --request-timeout=10s "$@"
  elif command -v rke2 >/dev/null; then
    /var/lib/rancher/rke2/bin/kubectl --kubeconfig /var/lib/rancher/rke2/agent/kubelet.kubeconfig --request-timeout=10s "$@"
  else
    kubectl --kubeconfig /etc/kubernetes/kubelet.conf --request-timeout=10s "$@"
  fi
}

installed_version() {
  if command -v k3s >/dev/null; then k3s --version
  elif command -v rke2 >/dev/null; then rke2 --version
  else kubelet --version
  fi | awk 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^v[0-9]+\.[0-9]+\.[0-9]+/) { print $i; exit } }'
}

# try PATCH REFUSAL: what the API server says to it
try() {
  said=$(as_kubelet patch node "$node" --type merge --dry-run=server -p "$1" 2>&1) && { echo allowed; return; }
  case $said in
    *"(Forbidden): nodes \"$node\" is forbidden: "*"is not allowed to modify $2"*) echo refused ;;
    *) echo unclear ;;
  esac
}

nft_chains() {
  nft -s -t list ruleset | awk '
    $1 == "table" { family = $2 }
    / hook input / && (family == "ip" || family == "ip6" || family == "inet") {
      verdict = /policy drop;/ ? "drop" : "accept"
      last = ""
    }
    $1 == "}" && verdict { print "chain", family, last ? last : verdict; verdict = "" }
    verdict && !last {
      sub(/^[ \t]+/, ""); sub(/^counter */, ""); sub(/ comment "[^"]*"$/, "")
      if ($0 == "accept") last = "accept"
      else if ($0 == "drop" || /^reject( with [a-z0-9 -]+)?$/) last = "drop"
    }'
}

# iptables_chain PROGRAM FAMILY
iptables_chain() {
  "$1" -S INPUT | awk -v family="$2" '
    $1 == "-P" { verdict = $3 == "DROP" ? "drop" : "accept" }
    $1 == "-A" && $3 == "-j" && !last && $4 == "ACCEPT" { last = "accept" }
    $1 == "-A" && $3 == "-j" && !last && ($4 == "DROP" || $4 == "REJECT") { last = "drop" }
    END { if (verdict) print "chain", family, last ? last : verdict }'
}

firewall() {
  if command -v nft >/dev/null; then nft_chains; fi
  # With nftables beneath, nft has shown them.
  case $(iptables --version) in *nf_tables*) command -v nft >/dev/null && return ;; esac
  if command -v iptables >/dev/null; then iptables_chain iptables ip; fi
  if command -v ip6tables >/dev/null; then iptables_chain ip6tables ip6; fi
}

main() {
  node=$(as_kubelet auth whoami -o 'jsonpath={.status.userInfo.username}' |
    sed -n 's/^system:node:\([a-z0-9][a-z0-9.-]*\)$/\1/p')
  echo "svc-host-report 1"
  echo "node $node"
  echo "version $(installed_version)"
  ip -o link show up type wireguard | awk '{ sub(/[:@].*/, "", $2); print "wireguard", $2 }' | head -n 16
  firewall | head -n 64
  if [ -n "$(ip -6 -o address show scope global)" ]; then echo "ipv6 yes"; else echo "ipv6 no"; fi
  if [ -n "$node" ]; then
    echo "labels $(try '${labelPatch}' 'labels: ')"
    echo "taints $(try '${taintPatch}' taints)"
  else
    echo "labels unclear"
    echo "taints unclear"
  fi
  echo end
}
main </dev/null 2>/dev/null
`;
