// Runs probe pods on a node and on that of the control plane, and removes them.

import { isKubeError, type Kube, type Pod, readPodLog, resources } from "@svc/kube";
import { resourceOf } from "../../cluster/kinds.ts";
import type { Facts, PathResult } from "./judge.ts";
import { clientPod, clients, probeNamespace, probePolicies, targetPod } from "./probe-objects.ts";

const removeMs = 120_000;
const pullMs = 180_000;
const clientMs = 120_000;
const pollMs = 300;

type ProbeOptions = {
  node: string;
  reference: string;
  image: string;
  hasPolicies: boolean;
  /** Called with each step. */
  say: (text: string) => void;
};

/** Rejects with what the API server refuses; whatever pods find is part of the facts. */
export async function probe(kube: Kube, options: ProbeOptions): Promise<Pick<Facts, "image" | "paths">> {
  const namespace = probeNamespace(options.node);
  await removeNamespace(kube, namespace);
  try {
    await kube.create(resources.namespaces, {
      ...{ apiVersion: "v1", kind: "Namespace" },
      metadata: { name: namespace },
    });
    const policies = resourceOf({
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { namespace },
    });
    for (const policy of probePolicies(namespace)) await kube.create(policies, policy);
    return await probeBoth({ ...options, kube, namespace });
  } finally {
    await kube.remove(resources.namespaces, { name: namespace });
  }
}

type Run = ProbeOptions & { kube: Kube; namespace: string };

async function probeBoth(run: Run): Promise<Pick<Facts, "image" | "paths">> {
  const { node, reference, image, hasPolicies, say } = run;
  say(`pulling ${image} on ${node}`);
  const target = await startTarget(run, node);
  if ("problem" in target) {
    const problem = "not checked: no pod ran on the node";
    return { image: { name: image, problem: target.problem }, paths: { problem } };
  }
  if (!hasPolicies) return { image: { name: image }, paths: "without" };
  say(`connecting pods of ${node} and ${reference}`);
  const other = await startTarget(run, reference);
  if ("problem" in other)
    return {
      image: { name: image },
      paths: { problem: `no pod ran on ${reference}: ${other.problem}` },
    };
  const all = await Promise.all(
    clients.flatMap((client) => [
      connectPods(run, { client, from: reference, to: node, target: target.address }),
      connectPods(run, { client, from: node, to: reference, target: other.address }),
    ]),
  );
  const lost = all.find((one) => "problem" in one);
  return {
    image: { name: image },
    paths: lost ?? all.filter((one): one is PathResult => !("problem" in one)),
  };
}

type Problem = { problem: string };

async function startTarget(run: Run, node: string): Promise<{ address: string } | Problem> {
  const name = node === run.node ? "target-node" : "target-reference";
  const pod = targetPod({ namespace: run.namespace, node, name, image: run.image });
  const found = await runPod(run, pod, {
    limitMs: pullMs,
    isDone: ({ status }) => status?.phase === "Running" && status.podIP !== undefined,
  });
  return "problem" in found ? found : { address: found.status?.podIP ?? "" };
}

type Connection = { client: (typeof clients)[number]; from: string; to: string; target: string };

async function connectPods(
  run: Run,
  { client, from, to, target }: Connection,
): Promise<PathResult | Problem> {
  const { kube, namespace, image } = run;
  const { role, isAllowed, why } = client;
  const name = `${role}-${from === run.node ? "node" : "reference"}`;
  const pod = clientPod({ namespace, node: from, name, image }, { role, isAllowed, target });
  const ended = await runPod(run, pod, {
    limitMs: clientMs,
    isDone: ({ status }) => status?.phase === "Succeeded",
  });
  if ("problem" in ended) return { problem: `pod ${name} did not end on ${from}: ${ended.problem}` };
  let text = "";
  const log = { namespace, name, container: "probe", lineBytes: 1000 };
  for await (const lines of readPodLog(kube.transport, log))
    text += lines.map(({ line }) => line.toString()).join("");
  const seen = (JSON.parse(text) as { seen: string }).seen.replace(/^::ffff:/, "");
  const result = { from: `${role} on ${from}`, to, why, isAllowed, isOpen: seen !== "" };
  return { ...result, source: ended.status?.podIP ?? "", seen: seen || undefined };
}

type Wait = { limitMs: number; isDone: (pod: Pod) => boolean };

async function runPod({ kube, namespace }: Run, pod: Pod, { limitMs, isDone }: Wait): Promise<Pod | Problem> {
  const until = Date.now() + limitMs;
  const target = { namespace, name: pod.metadata.name };
  await createPod(kube, pod, until);
  for (;;) {
    const now = await kube.find(resources.pods, target);
    if (now && isDone(now)) return now;
    const problem = now ? problemOf(now) : "it was removed";
    if (!now || hasFailed(now) || Date.now() > until) return { problem };
    await pause();
  }
}

// The account of a new namespace is made a moment after it.
async function createPod(kube: Kube, pod: Pod, until: number): Promise<void> {
  for (;;) {
    try {
      await kube.create(resources.pods, pod);
      return;
    } catch (error) {
      const isEarly = isKubeError(error, 403) && /service ?account/i.test((error as Error).message);
      if (!isEarly || Date.now() > until) throw error;
      await pause();
    }
  }
}

/** The kubelet would go on trying to pull; whoever mends it repeats the command. */
function hasFailed({ status }: Pod): boolean {
  const reason = status?.containerStatuses?.[0]?.state?.waiting?.reason ?? "";
  const isOver = status?.phase === "Failed" || status?.phase === "Succeeded";
  return isOver || ["ImagePullBackOff", "InvalidImageName"].includes(reason);
}

function problemOf({ status }: Pod): string {
  const [container] = status?.containerStatuses ?? [];
  const { waiting, terminated } = container?.state ?? {};
  const why = [waiting?.reason ?? status?.reason, waiting?.message ?? status?.message].filter(Boolean);
  if (terminated) return `its program ended with ${terminated.exitCode}`;
  return why.length > 0 ? why.join(", ") : `it is ${status?.phase ?? "Pending"}`;
}

async function removeNamespace(kube: Kube, name: string): Promise<void> {
  const until = Date.now() + removeMs;
  for (let isAsked = false; (await kube.find(resources.namespaces, { name })) !== undefined; isAsked = true) {
    if (!isAsked) await kube.remove(resources.namespaces, { name });
    if (Date.now() > until)
      throw new Error(`namespace ${name} of an earlier run does not go away; see kubectl describe namespace`);
    await pause();
  }
}

const pause = () => new Promise((wake) => setTimeout(wake, pollMs));
