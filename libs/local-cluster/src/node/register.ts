import { availableParallelism, totalmem } from "node:os";
import type { ClusterApi, KubeObject } from "../cluster-api.ts";
import { tolerate } from "../controllers/context.ts";
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
    // The label that an operator sets to approve a worker of a real cluster; local processes need no approval.
    "svc.internal/identity": name,
    "svc.internal/role": "worker",
    "svc.internal/approved": "true",
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

function renew(api: ClusterApi, name: string): void {
  const renewTime = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime };
  const target = { name, namespace: LEASE_NAMESPACE };
  if (api.find(LEASES, name, LEASE_NAMESPACE) !== undefined) {
    api.mergePatch(LEASES, target, { spec });
    return;
  }
  tolerate([409], () =>
    api.create(LEASES, { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: target, spec }),
  );
}

type RegisterDeps = { api: ClusterApi; warn(text: string): void };

/** Creates the Node object if there is none, marks it ready and renews its Lease until closed. */
export function registerNode({ api, warn }: RegisterDeps, name: string, hostIP: string): { close(): void } {
  const writeStatus = (ready: boolean) => {
    const status = nodeStatus(name, hostIP, ready);
    tolerate([404], () => api.mergePatch(NODES, { name, subresource: "status" }, { status }));
  };
  if (api.find(NODES, name) === undefined) tolerate([409], () => api.create(NODES, nodeObject(name)));
  writeStatus(true);
  renew(api, name);
  const timer = setInterval(() => {
    try {
      renew(api, name);
    } catch (error) {
      warn(`the Lease of node ${name} could not be renewed: ${String(error)}`);
    }
  }, RENEW_MS);
  return {
    close: () => {
      clearInterval(timer);
      writeStatus(false);
    },
  };
}
