// What the script says of a machine (script.ts). It comes from the machine that is judged, so anything else than the format is
// a failure. Pure.

/** What the API server answered the kubelet: `refused` only by its plugin NodeRestriction. */
type Answer = "refused" | "allowed" | "unclear";

/** A hook of incoming packets, and what becomes of those that no rule of it names. */
type Chain = { family: "ip" | "ip6" | "inet"; otherwise: "accept" | "drop" };

export type HostReport = {
  /** The node whose kubelet runs there, as the API server knows it by its certificate; empty when it could not be asked. */
  node: string;
  /** Of the kubelet that is installed; empty when it was not found. */
  version: string;
  /** Interfaces of WireGuard that are up. */
  wireguard: string[];
  chains: Chain[];
  /** Whether it has a global address of IPv6. */
  hasIpv6: boolean;
  labels: Answer;
  taints: Answer;
};

/** In characters; what is longer is no report. */
export const reportLimit = 8192;

const line = {
  head: /^svc-host-report 1\n/,
  node: /^node ([a-z0-9][a-z0-9.-]{0,252})?\n/,
  version: /^version (v\d{1,4}\.\d{1,4}\.\d{1,4}[A-Za-z0-9.+-]{0,40})?\n/,
  wireguard: /^wireguard ([A-Za-z0-9._-]{1,15})\n/,
  chain: /^chain (ip|ip6|inet) (accept|drop)\n/,
  ipv6: /^ipv6 (yes|no)\n/,
  labels: /^labels (refused|allowed|unclear)\n/,
  taints: /^taints (refused|allowed|unclear)\n/,
  end: /^end\n$/,
};

/** Nothing unless the text is a whole report, and only that. */
export function readReport(text: string): HostReport | undefined {
  if (text.length > reportLimit) return undefined;
  let rest = text;
  let isWhole = true;
  const next = (pattern: RegExp): string[] | undefined => {
    const found = pattern.exec(rest) ?? undefined;
    rest = rest.slice(found?.[0].length ?? 0);
    return found?.map((group) => group ?? "");
  };
  const need = (pattern: RegExp): string => {
    const found = next(pattern);
    isWhole &&= found !== undefined;
    return found?.[1] ?? "";
  };
  need(line.head);
  const [node, version] = [need(line.node), need(line.version)];
  const wireguard: string[] = [];
  for (let one = next(line.wireguard); one; one = next(line.wireguard)) wireguard.push(one[1] ?? "");
  const chains: Chain[] = [];
  for (let one = next(line.chain); one; one = next(line.chain)) {
    const [, family, otherwise] = one as [string, Chain["family"], Chain["otherwise"]];
    chains.push({ family, otherwise });
  }
  const hasIpv6 = need(line.ipv6) === "yes";
  const [labels, taints] = [need(line.labels) as Answer, need(line.taints) as Answer];
  need(line.end);
  return isWhole ? { node, version, wireguard, chains, hasIpv6, labels, taints } : undefined;
}

/** Families of addresses whose packets no chain drops; each packet passes all chains, so one is enough. */
export function openFamilies({ chains, hasIpv6 }: Pick<HostReport, "chains" | "hasIpv6">): string[] {
  const isClosed = (wanted: "ip" | "ip6") =>
    chains.some(({ family, otherwise }) => (family === wanted || family === "inet") && otherwise === "drop");
  return [...(isClosed("ip") ? [] : ["IPv4"]), ...(hasIpv6 && !isClosed("ip6") ? ["IPv6"] : [])];
}
