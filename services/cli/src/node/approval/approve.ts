// `svc node approve` and `svc node join` (docs/reference/moves.md#approve).

import { type Kube, type Node, resources } from "@svc/kube";
import { joinTaint, nodeLabels } from "@svc/proto/node-labels";
import { resourceOf } from "../../cluster/kinds.ts";
import { findingsOutcome } from "../../findings.ts";
import { hint } from "../../hint.ts";
import { readValues } from "../../manifests/values/read.ts";
import { CommandError, type Outcome, planned, UsageError } from "../../output.ts";
import { inCluster } from "../cluster.ts";
import { admit } from "./admit.ts";
import { readHost } from "./host/read-host.ts";
import { hostCommands } from "./host/script.ts";
import { findSshTarget, type SshTarget } from "./host/target.ts";
import { confirmable, judgeNode } from "./judge.ts";
import { askAsKubelet } from "./kubelet-rights.ts";
import { factsOf, findReference } from "./node-facts.ts";
import { probe } from "./probe.ts";

export type ApproveOptions = {
  data: string;
  kubeconfig?: string;
  values?: string;
  image?: string;
  reference?: string;
  confirm?: string[];
  ssh?: string;
  sshKnownHosts?: string;
  yes?: boolean;
};

/** Exit code 1 when a probe fails; the taint stays then. */
export async function approve(name: string, options: ApproveOptions): Promise<Outcome> {
  const unknown = options.confirm?.find((one) => !(confirmable as readonly string[]).includes(one));
  if (unknown !== undefined) throw new UsageError(`--confirm ${unknown}: can be ${confirmable.join(", ")}`);
  const { kubeconfig } = options;
  const machine = findSshTarget(options);
  return inCluster({ kubeconfig, task: "approve nodes" }, (kube) =>
    approveWith(kube, { ...options, name, machine }),
  );
}

type Request = ApproveOptions & { name: string; machine: SshTarget | undefined };

async function approveWith(kube: Kube, options: Request): Promise<Outcome> {
  const { data, name, machine, confirm = [], yes } = options;
  const values = readValues(options.values);
  const { node, reference } = await findNodes(kube, name, options.reference);
  const image = options.image ?? (await findImage(kube, values.namespaces.control));
  const hasPolicies = values.networkPolicies.enabled;
  const plan = {
    ...{ node: name, reference: reference.metadata.name, image, hasPolicies, confirmed: confirm },
    ...(machine && { ssh: machine.name, commands: hostCommands }),
  };
  if (!yes) return planned(plan, planText(plan));
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const kubelet = await askAsKubelet(kube, name);
  if (machine) say(`asking the machine ${machine.name}`);
  const host = machine && (await readHost(machine));
  const probed = await probe(kube, { ...plan, say });
  // Read again: the probes took minutes.
  const [now, then] = await Promise.all(
    [name, plan.reference].map((one) => kube.get(resources.nodes, { name: one })),
  );
  if (!now || !then || now.metadata.uid !== node.metadata.uid)
    throw new CommandError(`node ${name} was replaced while it was probed; run the command again`);
  const facts = { node: factsOf(now), reference: factsOf(then), kubelet, host, ...probed };
  const { text, ...outcome } = findingsOutcome(judgeNode(facts, new Set(confirm)));
  if (outcome.exitCode === 0) await admit(kube, now);
  return { ...outcome, text: `${text}\n${endText({ data, node: now, isFine: outcome.exitCode === 0 })}` };
}

async function findNodes(kube: Kube, name: string, wanted?: string) {
  const { items } = await kube.list(resources.nodes);
  const named = (one: string) => items.find(({ metadata }) => metadata.name === one);
  const names = items.map(({ metadata }) => metadata.name).join(", ");
  const node = named(name);
  if (!node) throw new CommandError(`node ${name} not found; nodes are ${names}`);
  if (node.metadata.labels?.[nodeLabels.role] === "controller")
    throw new CommandError(`node ${name} belongs to the control plane; it is not approved for servers`);
  if (wanted === name) throw new UsageError("--reference must be another node");
  const reference = wanted === undefined ? findReference(items, name) : named(wanted);
  if (reference) return { node, reference };
  if (wanted !== undefined) throw new CommandError(`node ${wanted} not found; nodes are ${names}`);
  throw new CommandError(
    "no node of the control plane is visible; name the node to compare with: --reference NODE",
  );
}

/** That of the services: it has Node, which the probe pods run. */
async function findImage(kube: Kube, namespace: string): Promise<string> {
  const kind = resourceOf({ apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace } });
  const found = (await kube.find(kind, { namespace, name: "lifecycle" })) as
    | { spec?: { template?: { spec?: { containers?: { image?: string }[] } } } }
    | undefined;
  const image = found?.spec?.template?.spec?.containers?.[0]?.image;
  if (image) return image;
  throw new CommandError(
    `no Deployment lifecycle in namespace ${namespace}; name an image of the registry that has node: --image IMAGE`,
  );
}

type Plan = {
  node: string;
  reference: string;
  image: string;
  hasPolicies: boolean;
  confirmed: string[];
  ssh?: string;
};

function planText({ node, reference, image, hasPolicies, confirmed, ssh }: Plan): string {
  const network = hasPolicies
    ? `  connect pods of ${node} and ${reference}: allowed and denied paths, and the addresses that are seen`
    : "  connect no pods: these values have no network policies";
  const unseen = confirmable.filter((one) => ssh === undefined || one !== "host-firewall");
  return [
    `Plan: probe ${node}; when all is well, label it ${nodeLabels.approved}=true and remove its taint ${joinTaint.key}.`,
    `  compare architecture and version with ${reference}; is it ready, is its traffic encrypted`,
    "  ask the API server in the name of its kubelet for what it must refuse",
    `  pull ${image} there, in a namespace that is removed again`,
    network,
    ...(ssh === undefined ? [] : sshText(ssh)),
    `  not visible to svc: ${unseen.map((one) => (confirmed.includes(one) ? `${one} (confirmed)` : one)).join(", ")}`,
  ].join("\n");
}

function sshText(machine: string): string[] {
  return [
    `  log in to ${machine} over SSH, if its host key is known, and run as root there, changing nothing:`,
    ...hostCommands.map((one) => `    ${one}`),
  ];
}

function endText({ data, node, isFine }: { data: string; node: Node; isFine: boolean }): string {
  const { name, labels = {} } = node.metadata;
  if (isFine) return `${name} is approved and takes servers.`;
  const isTainted = node.spec?.taints?.some(({ key }) => key === joinTaint.key) ?? false;
  if (isTainted)
    return `${name} keeps its taint and takes no servers. Mend what is BAD and repeat the command.`;
  if (labels[nodeLabels.approved] === "true")
    return `${name} was approved before and takes servers; keep new ones off: ${hint(data, `node cordon ${name}`)}`;
  return `${name} is not approved. It has no taint, so other pods may run there: kubectl taint node ${name} ${joinTaint.key}=:${joinTaint.effect}`;
}

/** How a machine joins, in words: who does it is root there. */
export function join(): Outcome {
  const taint = `${joinTaint.key}=:${joinTaint.effect}`;
  const steps = [
    "Let it register with a taint, so that nothing runs there before it is approved:",
    `  k3s:      k3s agent --server https://CONTROLLER:6443 --token-file FILE --node-taint ${taint}`,
    `  kubeadm:  kubeadm join with nodeRegistration.taints: key ${joinTaint.key}, effect ${joinTaint.effect}`,
    `  other:    kubelet --register-with-taints=${taint}`,
    "Use the same minor version and architecture as the control plane, a network plugin with WireGuard, and a firewall",
    "that lets in only the other nodes and SSH. Then: svc node approve NODE --ssh root@HOST",
  ];
  return { json: { taint: joinTaint }, text: steps.join("\n") };
}
