import { availableParallelism, totalmem } from "node:os";
import { nodeLabels, outdatedLabelsOf } from "@svc/proto/node-labels";
import type { KubeObject, NodeApi } from "../cluster-api.ts";
import { tolerated } from "../controllers/context.ts";
import { LEASES, NODES } from "../controllers/refs.ts";
import { HOSTNAME_LABEL } from "../controllers/volume/objects.ts";
import { timeText } from "../time.ts";

const RENEW_MS = 10_000;
const LEASE_SECONDS = 40;
const LEASE_NAMESPACE = "kube-node-lease";
const ARCHITECTURES: Record<string, string> = { x64: "amd64", arm64: "arm64" };

function nodeObject(name: string): KubeObject {
  const arch = ARCHITECTURES[process.arch] ?? process.arch;
  const labels = {
    [HOSTNAME_LABEL]: name,
    "kubernetes.io/arch": arch,
    "kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": arch,
  };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: {} };
}

function nodeStatus(name: string, hostIP: string, ready: boolean) {
  const at = timeText(Date.now());
  const amount = {
    cpu: String(availableParallelism()),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    pods: "1000",
  };
  return {
    capacity: amount,
    allocatable: amount,
    addresses: [
      { type: "InternalIP", address: hostIP },
      { type: "Hostname", address: name },
    ],
    conditions: [
      {
        type: "Ready",
        status: ready ? "True" : "False",
        reason: ready ? "KubeletReady" : "KubeletNotReady",
        message: ready ? "the node agent runs" : "the node agent was stopped",
        lastHeartbeatTime: at,
        lastTransitionTime: at,
      },
    ],
    nodeInfo: {
      architecture: ARCHITECTURES[process.arch] ?? process.arch,
      operatingSystem: process.platform,
      containerRuntimeVersion: "local://1.0.0",
      kubeletVersion: "v1.28.0+local",
      kubeProxyVersion: "v1.28.0+local",
      bootID: "",
      kernelVersion: "",
      machineID: name,
      osImage: process.platform,
      systemUUID: name,
    },
  };
}

async function renew(api: NodeApi, name: string): Promise<void> {
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
  const target = { name, namespace: LEASE_NAMESPACE };
  if ((await api.find(LEASES, name, LEASE_NAMESPACE)) !== undefined) {
    await api.mergePatch(LEASES, target, { spec });
    return;
  }
  await tolerated([409], () =>
    api.create(LEASES, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: target, spec }),
  );
}

/** What an operator sets to approve a worker of a real cluster; local processes need no approval. */
function approved(name: string): Record<string, string> {
  return {
    [nodeLabels.identity]: name,
    [nodeLabels.role]: "worker",
    [nodeLabels.approved]: "true",
  };
}

type RegisterDeps = {
  api: NodeApi;
  warn(text: string): void;
  /** Labels beside those that every node has; those of an approved worker when absent. */
  labels?: Record<string, string>;
  /** Where the API server asks for logs; the embedded one reads them itself. */
  logPort?: number;
};

async function ensureNode(api: NodeApi, name: string, labels?: Record<string, string>): Promise<void> {
  const found = await api.find(NODES, name);
  if (found === undefined) {
    const node = nodeObject(name);
    const metadata = { name, labels: { ...node.metadata.labels, ...(labels ?? approved(name)) } };
    await tolerated([409], () => api.create(NODES, { ...node, metadata }));
    return;
  }
  // A data folder of an earlier release; whoever started its nodes had approved them by that.
  const missing = labels ? {} : outdatedLabelsOf(found.metadata.labels);
  if (Object.keys(missing).length > 0)
    await api.mergePatch(NODES, { name }, { metadata: { labels: missing } });
}

/** Creates the Node object if there is none, marks it ready and renews its Lease until closed. */
export async function registerNode(
  { api, warn, labels, logPort }: RegisterDeps,
  name: string,
  hostIP: string,
): Promise<{ close(): Promise<void> }> {
  const writeStatus = async (ready: boolean) => {
    const endpoint = logPort && { daemonEndpoints: { kubeletEndpoint: { Port: logPort } } };
    // An API server would look its name up before it takes the address.
    const addresses = logPort && { addresses: [{ type: "InternalIP", address: hostIP }] };
    const status = { ...nodeStatus(name, hostIP, ready), ...addresses, ...endpoint };
    await tolerated([404], () => api.mergePatch(NODES, { name, subresource: "status" }, { status }));
  };
  await ensureNode(api, name, labels);
  await writeStatus(true);
  await renew(api, name);
  const timer = setInterval(() => {
    renew(api, name).catch((error: unknown) =>
      warn(`the Lease of node ${name} could not be renewed: ${String(error)}`),
    );
  }, RENEW_MS);
  return {
    close: async () => {
      clearInterval(timer);
      await writeStatus(false);
    },
  };
}
