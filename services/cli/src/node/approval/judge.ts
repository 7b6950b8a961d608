// Whether a node may run servers, and what to do where not (docs/reference/moves.md#approve). Pure.

import type { Finding } from "../../findings.ts";
import { type HostAnswer, hostFindings } from "./host/findings.ts";

/** What an operator may confirm where the API of Kubernetes does not show it. */
export const confirmable = ["encryption", "host-firewall", "kubelet-rights"] as const;
type Confirmable = (typeof confirmable)[number];

/** Whether the kubelet of the node may change what is not its own; `unknown` where nobody can ask in its name. */
export type KubeletRight = "refused" | "allowed" | "unknown";

export type NodeFacts = {
  name: string;
  isReady: boolean;
  architecture: string;
  kubeletVersion: string;
  /** Traffic between nodes, by the network plugin's annotations. */
  encryption: { state: "on" | "off" | "unknown"; by?: string };
};

/** One connection between probe pods, and what the policies of the probe say of it. */
export type PathResult = {
  from: string;
  to: string;
  why: string;
  isAllowed: boolean;
  isOpen: boolean;
  /** The address of the pod that connected, and the one that the other pod saw. */
  source: string;
  seen?: string | undefined;
};

export type Facts = {
  node: NodeFacts;
  /** The node of the control plane. */
  reference: NodeFacts;
  kubelet: { taints: KubeletRight; labels: KubeletRight };
  /** The image that was pulled on the node, or why not. */
  image: { name: string; problem?: string | undefined };
  /** `without` where the installation has no network policies, otherwise the connections, or why there are none. */
  paths: PathResult[] | { problem: string } | "without";
  /** What the machine said over SSH, if it was asked. */
  host?: HostAnswer | undefined;
};

/** In the order in which a person would mend them. The node is approved when all are ok. */
export function judgeNode(facts: Facts, confirmed: ReadonlySet<string>): Finding[] {
  return [
    ...machineFindings(facts),
    encryptionFinding(facts, confirmed),
    ...kubeletFindings(facts, confirmed),
    imageFinding(facts),
    ...pathFindings(facts),
    ...machineOrFirewall(facts, confirmed),
  ];
}

function machineOrFirewall({ host, node }: Facts, confirmed: ReadonlySet<string>): Finding[] {
  if (host) return hostFindings(host, node);
  const firewall = confirmedFinding(confirmed, {
    ...{ check: "host firewall", name: "host-firewall" },
    ask: "check on the machine that its firewall lets in only the other nodes and SSH, or let svc look with --ssh",
  });
  return [firewall];
}

const ok = (check: string, detail: string): Finding => ({ check, ok: true, detail });
const bad = (check: string, detail: string): Finding => ({ check, ok: false, detail });

type Question = { check: string; name: Confirmable; ask: string };

function confirmedFinding(confirmed: ReadonlySet<string>, { check, name, ask }: Question): Finding {
  if (confirmed.has(name)) return ok(check, "confirmed by you, not checked by svc");
  return bad(check, `svc cannot see it: ${ask}, then add --confirm ${name}`);
}

const minorOf = (version: string) => /^v?(\d+\.\d+)/.exec(version)?.[1];

function machineFindings({ node, reference }: Facts): Finding[] {
  const minor = minorOf(node.kubeletVersion);
  const isSameVersion = minor !== undefined && minor === minorOf(reference.kubeletVersion);
  const other = `${reference.name} has ${reference.kubeletVersion || "none"}`;
  return [
    node.isReady
      ? ok("ready", "its kubelet answers")
      : bad("ready", `the node is not Ready; see kubectl describe node ${node.name}`),
    node.architecture !== "" && node.architecture === reference.architecture
      ? ok("architecture", node.architecture)
      : bad(
          "architecture",
          `is ${node.architecture || "unknown"}, ${reference.name} has ${reference.architecture}; images and worlds need the same machine`,
        ),
    isSameVersion
      ? ok("version", node.kubeletVersion)
      : bad(
          "version",
          `kubelet ${node.kubeletVersion || "unknown"}, ${other}; install the same minor version`,
        ),
  ];
}

function encryptionFinding({ node, host }: Facts, confirmed: ReadonlySet<string>): Finding {
  const check = "encryption";
  const { state, by = "" } = node.encryption;
  if (state === "on") return ok(check, `WireGuard, says ${by}`);
  if (state === "off")
    return bad(check, `${by} sends in clear text; switch on WireGuard in the network plugin of all nodes`);
  if (host && !("problem" in host) && host.wireguard.length > 0)
    return ok(check, `WireGuard, says the machine (${host.wireguard.join(", ")})`);
  const ask =
    "no annotation of the network plugin names WireGuard; make sure that traffic between nodes is encrypted";
  return confirmedFinding(confirmed, { check, name: "encryption", ask });
}

function kubeletFindings({ node, kubelet }: Facts, confirmed: ReadonlySet<string>): Finding[] {
  const rights = [
    {
      ...{ check: "kubelet and taints", right: kubelet.taints, what: "the taints of its node" },
      mend: "switch on the admission plugin NodeRestriction of the API server",
    },
    {
      ...{
        check: "kubelet and labels",
        right: kubelet.labels,
        what: "the labels that svc trusts of its node",
      },
      mend: "switch on NodeRestriction and the authorizer Node (docs/reference/moves.md#labels)",
    },
  ];
  return rights.map(({ check, right, what, mend }) => {
    if (right === "refused") return ok(check, `may not change ${what}`);
    if (right === "allowed") return bad(check, `the kubelet of ${node.name} may change ${what}; ${mend}`);
    const ask = `this account may not ask in the kubelet's name; make sure that it may not change ${what}`;
    return confirmedFinding(confirmed, { check, name: "kubelet-rights", ask });
  });
}

function imageFinding({ node, image: { name, problem } }: Facts): Finding {
  if (problem === undefined) return ok("image", `${name} runs there; the registry was asked for it`);
  const detail = `${name} did not run on ${node.name}: ${problem}; does its container runtime reach the registry (docs/install.md)?`;
  return bad("image", detail);
}

function pathFindings({ paths }: Facts): Finding[] {
  if (paths === "without") return [ok("network", "not checked: this installation has no network policies")];
  if (!Array.isArray(paths)) return [bad("network", paths.problem)];
  return paths.map(pathFinding);
}

function pathFinding({ from, to, why, isAllowed, isOpen, source, seen }: PathResult): Finding {
  const check = `${from} to ${to}`;
  if (isOpen && !isAllowed)
    return bad(check, `connects though ${why}; the network plugin must enforce policies on both nodes`);
  if (!isOpen && isAllowed)
    return bad(check, `does not connect; let the network plugin's traffic pass between the nodes' firewalls`);
  if (!isOpen) return ok(check, `does not connect: ${why}`);
  if (seen === source) return ok(check, `connects, and is seen as ${source}`);
  const detail = `is seen as ${seen ?? "nobody"} instead of ${source}; switch off masquerading between pods`;
  return bad(check, detail);
}
