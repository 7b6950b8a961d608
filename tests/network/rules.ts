// Network policies as rules of iptables: what one policy allows is allowed, a pod that a policy selects is otherwise closed in
// the directions that the policy names. Pure.

import type { Pod } from "./pods.ts";

type Labels = Record<string, string>;
type Selector = {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: "Exists" | "In"; values?: string[] }[];
};
type Peer = {
  ipBlock?: { cidr: string; except?: string[] };
  namespaceSelector?: Selector;
  podSelector?: Selector;
};
type Port = { protocol?: string; port: number };
type Rule = { from?: Peer[]; to?: Peer[]; ports?: Port[] };
export type Policy = {
  kind: "NetworkPolicy";
  metadata: { name: string; namespace: string };
  spec: { podSelector: Selector; policyTypes: string[]; ingress?: Rule[]; egress?: Rule[] };
};

/** A pod connects from `source` and listens at `target`. */
export type PlacedPod = Pod & { source: string; target: string };

const directions = [
  {
    type: "Egress",
    rules: "egress",
    peers: "to",
    own: "-s",
    ownAs: "source",
    other: "-d",
    otherAs: "target",
  },
  {
    type: "Ingress",
    rules: "ingress",
    peers: "from",
    own: "-d",
    ownAs: "target",
    other: "-s",
    otherAs: "source",
  },
] as const;
type Direction = (typeof directions)[number];

/** The text that `iptables-restore` reads, for a router between all sources and all targets. IPv4 only. */
export function filterText(policies: readonly Policy[], pods: readonly PlacedPod[]): string {
  const chains: string[] = [];
  const forward = ["-A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT"];
  const lines: string[] = [];
  pods.forEach((pod, place) => {
    for (const direction of directions) {
      const mine = policies.filter((policy) => isSelected(policy, pod, direction));
      if (mine.length === 0) continue;
      const chain = `${direction.type}-${place}`;
      chains.push(chain);
      forward.push(`-A FORWARD ${direction.own} ${pod[direction.ownAs]} -j MARK --set-mark 0`);
      forward.push(`-A FORWARD ${direction.own} ${pod[direction.ownAs]} -j ${chain}`);
      for (const { spec, metadata } of mine)
        for (const rule of spec[direction.rules] ?? [])
          for (const matched of matchesOf(rule, { pods, namespace: metadata.namespace, direction })) {
            if (matched.except.length === 0) {
              lines.push(`-A ${chain} ${matched.match} -j RETURN`);
              continue;
            }
            const block = `Block-${chains.length}`;
            chains.push(block);
            lines.push(`-A ${chain} ${matched.match} -j ${block}`);
            lines.push(...matched.except.map((cidr) => `-A ${block} ${direction.other} ${cidr} -j RETURN`));
            lines.push(`-A ${block} -j MARK --set-mark 1`, `-A ${chain} -m mark --mark 1 -j RETURN`);
          }
      lines.push(`-A ${chain} -p tcp -j REJECT --reject-with tcp-reset`, `-A ${chain} -j REJECT`);
    }
  });
  const declared = chains.map((chain) => `:${chain} - [0:0]`);
  return ["*filter", ":FORWARD ACCEPT [0:0]", ...declared, ...forward, ...lines, "COMMIT", ""].join("\n");
}

function isSelected({ metadata, spec }: Policy, pod: Pod, { type }: Direction): boolean {
  const isOfNamespace = metadata.namespace === pod.namespace;
  return isOfNamespace && spec.policyTypes.includes(type) && fits(spec.podSelector, pod.labels);
}

type Match = { match: string; except: readonly string[] };
type Scope = { pods: readonly PlacedPod[]; namespace: string; direction: Direction };

function matchesOf(rule: Rule, scope: Scope): Match[] {
  const { direction } = scope;
  const ports = rule.ports?.map(
    ({ protocol = "TCP", port }) => `-p ${protocol.toLowerCase()} --dport ${port}`,
  ) ?? [""];
  const peers: Match[] = (rule[direction.peers] ?? [undefined]).flatMap((peer) => {
    if (!peer) return [{ match: "", except: [] }];
    const { ipBlock } = peer;
    // Blocks of IPv6 have no part in this filter.
    if (ipBlock?.cidr.includes(":")) return [];
    if (ipBlock) return [{ match: `${direction.other} ${ipBlock.cidr}`, except: ipBlock.except ?? [] }];
    return podsOf(peer, scope).map((pod) => ({
      match: `${direction.other} ${pod[direction.otherAs]}`,
      except: [],
    }));
  });
  return peers.flatMap(({ match, except }) => ports.map((port) => ({ match: `${match} ${port}`, except })));
}

function podsOf({ namespaceSelector, podSelector }: Peer, { pods, namespace }: Scope): PlacedPod[] {
  const isInNamespace = (pod: Pod) =>
    namespaceSelector
      ? fits(namespaceSelector, { "kubernetes.io/metadata.name": pod.namespace })
      : pod.namespace === namespace;
  return pods.filter((pod) => isInNamespace(pod) && fits(podSelector ?? {}, pod.labels));
}

function fits({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator === "Exists") return key in labels;
      if (operator === "In") return values.includes(labels[key] ?? "");
      throw new Error(`the operator ${operator} of a selector is not known here`);
    })
  );
}
