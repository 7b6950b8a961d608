// Stands in for two kubelets, a scheduler and a provisioner, for the Jobs of one namespace on a real API server:
// it places their pods, makes their volumes as folders, runs their containers as processes, and serves their logs, which
// the API server fetches from it as it does from every kubelet.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  isKubeError,
  type Kube,
  type KubeObject,
  type PersistentVolumeClaim,
  type Pod,
  resource,
  resources,
  startInformer,
} from "@svc/kube";
import { nodeLabels } from "@svc/proto/node-labels";
import { createLogger } from "@svc/telemetry";
import { ensureIdentity } from "../../libs/local-cluster/src/apiserver/tls/certificate.ts";
import type {
  NodeSelectorTerm,
  Pod as ScheduledPod,
} from "../../libs/local-cluster/src/controllers/objects.ts";
import {
  type Node as ScheduledNode,
  place as schedule,
} from "../../libs/local-cluster/src/controllers/schedule/decide.ts";
import { until } from "../../libs/mesh/src/testing.ts";

type Volume = KubeObject & {
  spec: {
    hostPath?: { path: string };
    local?: { path: string };
    nodeAffinity?: { required: { nodeSelectorTerms: NodeSelectorTerm[] } };
  };
};
type Mount = { name: string; mountPath: string };
type Container = {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  volumeMounts?: Mount[];
};
type PodSpec = {
  nodeName?: string;
  containers: Container[];
  volumes?: {
    name: string;
    persistentVolumeClaim?: { claimName: string };
    secret?: { secretName: string; defaultMode?: number };
  }[];
};

const volumes = resource<Volume>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});
const selectedNode = "volume.kubernetes.io/selected-node";
const identity = nodeLabels.identity;
const log = createLogger("storage", "silent");

type KubeletOptions = {
  kube: Kube;
  namespace: string;
  dir: string;
  nodes: readonly string[];
  /** Arguments of Node by image. */
  programs: Readonly<Record<string, readonly string[]>>;
};

type Runner = KubeletOptions & { logs: Map<string, string>; running: Map<string, ChildProcess> };

export async function startKubelet(options: KubeletOptions): Promise<{ close: () => Promise<void> }> {
  const { kube, namespace, dir, nodes } = options;
  const runner: Runner = { ...options, logs: new Map(), running: new Map() };
  const server = await serveLogs(dir, runner.logs);
  for (const name of nodes) await registerNode(kube, name, (server.address() as AddressInfo).port);
  const seen = new Set<string>();
  const work = new Set<Promise<void>>();
  const begin = (job: Promise<void>) => {
    const done = job
      .catch((error: unknown) => {
        // Another one was faster, or it is gone.
        if (!isKubeError(error, 404) && !isKubeError(error, 409))
          process.stderr.write(`kubelet: ${String(error)}\n`);
      })
      .finally(() => work.delete(done));
    work.add(done);
  };
  const pods = startInformer({
    kube,
    namespace,
    resource: resources.pods,
    log,
    onChange: (_key: string, pod: Pod | undefined) => {
      const uid = pod?.metadata.uid ?? "";
      if (!pod) return;
      if (pod.metadata.deletionTimestamp !== undefined) return begin(end(runner, pod));
      if (seen.has(uid)) return;
      seen.add(uid);
      begin(run(runner, pod));
    },
  });
  const claims = startInformer({
    kube,
    namespace,
    resource: resources.claims,
    log,
    onChange: (_key: string, claim: PersistentVolumeClaim | undefined) => {
      const node = claim?.metadata.annotations?.[selectedNode];
      if (!claim || node === undefined || claim.spec?.volumeName || seen.has(claim.metadata.uid ?? ""))
        return;
      seen.add(claim.metadata.uid ?? "");
      begin(provision(runner, claim, node));
    },
  });
  await Promise.all([pods.ready, claims.ready]);
  return {
    close: async () => {
      await Promise.all([pods.stop(), claims.stop()]);
      for (const child of runner.running.values()) child.kill("SIGKILL");
      await Promise.all(work);
      server.closeAllConnections();
      server.close();
    },
  };
}

/** `GET /containerLogs/<namespace>/<pod>/<container>?timestamps=true`, the one thing that the API server asks of it. */
async function serveLogs(dir: string, logs: ReadonlyMap<string, string>): Promise<Server> {
  const server = createServer(
    ensureIdentity(join(dir, "kubelet.key"), join(dir, "kubelet.crt")),
    (request, response) => {
      const [, kind, , pod = ""] = new URL(request.url ?? "/", "https://kubelet").pathname.split("/");
      const text = kind === "containerLogs" ? logs.get(pod) : undefined;
      response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain" }).end(text);
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function registerNode(kube: Kube, name: string, port: number): Promise<void> {
  const labels = {
    "kubernetes.io/hostname": name,
    [identity]: name,
    [nodeLabels.role]: "worker",
    [nodeLabels.approved]: "true",
  };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
  await kube.create(resources.nodes, node as never).catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
  };
  await kube.patch(resources.nodes, { name }, { merge: { status }, subresource: "status" });
}

async function run(runner: Runner, pod: Pod): Promise<void> {
  const { kube, namespace } = runner;
  const { name } = pod.metadata;
  const spec = pod.spec as unknown as PodSpec;
  const [container] = spec.containers;
  if (!container || spec.nodeName) return;
  const { node, folders } = await place(runner, pod);
  const binding = {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { name },
    target: { apiVersion: "v1", kind: "Node", name: node },
  };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/binding`;
  await kube.transport.request({ method: "POST", path, body: binding });
  const code = await runContainer(runner, { name, container, folders });
  await say(runner, name, { phase: code === 0 ? "Succeeded" : "Failed" });
}

async function say({ kube, namespace }: Runner, name: string, status: object): Promise<void> {
  await kube.patch(resources.pods, { name, namespace }, { merge: { status }, subresource: "status" });
}

/** Where the scheduler of the local cluster has it; claims without a volume get theirs there. */
async function place(runner: Runner, pod: Pod): Promise<{ node: string; folders: Map<string, string> }> {
  const { kube, namespace, dir, nodes } = runner;
  const spec = pod.spec as unknown as PodSpec;
  const claims = (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim }) =>
    claim ? [{ name, claim: claim.claimName }] : [],
  );
  const bound = async (claim: string) => {
    const { spec: found } = await kube.get(resources.claims, { name: claim, namespace });
    return found?.volumeName ? kube.get(volumes, { name: found.volumeName }) : undefined;
  };
  const known = await Promise.all(claims.map(({ claim }) => bound(claim)));
  const { items } = await kube.list(resources.nodes);
  const placement = schedule({
    pod: pod as unknown as ScheduledPod,
    // Without the taint of nodes that never were ready, which the API server gives to all.
    nodes: items
      .filter(({ metadata }) => nodes.includes(metadata.name))
      .map(({ spec: about, ...node }) => {
        return { ...node, spec: { unschedulable: about?.unschedulable === true } } as ScheduledNode;
      }),
    load: new Map(),
    claims: claims.map(({ name, claim }, n) => ({ name, claim: claimOf(claim), volume: known[n] as never })),
  });
  if (!("node" in placement)) throw new Error(`${pod.metadata.name}: ${placement.refused}`);
  const { node } = placement;
  const folders = new Map<string, string>();
  for (const { name, claim } of claims) {
    const merge = { metadata: { annotations: { [selectedNode]: node } } };
    if (!(await bound(claim))) await kube.patch(resources.claims, { name: claim, namespace }, { merge });
    await until(
      async () => (await kube.get(resources.claims, { name: claim, namespace })).status?.phase === "Bound",
    );
    const volume = (await bound(claim))?.spec;
    folders.set(name, volume?.hostPath?.path ?? volume?.local?.path ?? "");
  }
  for (const { name, secret } of spec.volumes ?? []) {
    if (secret) folders.set(name, await mountSecret(runner, { pod, name, ...secret }));
  }
  const tmp = join(dir, "tmp", pod.metadata.uid ?? "");
  mkdirSync(tmp, { recursive: true });
  return { node, folders: folders.set("tmp", tmp) };
}

type SecretMount = { pod: Pod; name: string; secretName: string; defaultMode?: number };

/** A folder with a file for each key; as every kubelet does, it waits for a Secret that is not there yet. */
async function mountSecret({ kube, namespace, dir }: Runner, mount: SecretMount): Promise<string> {
  const { pod, secretName, defaultMode = 0o644 } = mount;
  const folder = join(dir, "secrets", pod.metadata.uid ?? "", mount.name);
  mkdirSync(folder, { recursive: true });
  await until(
    async () => (await kube.find(resources.secrets, { name: secretName, namespace })) !== undefined,
  );
  const { data = {} } = await kube.get(resources.secrets, { name: secretName, namespace });
  for (const [key, value] of Object.entries(data))
    writeFileSync(join(folder, key), Buffer.from(value, "base64"), { mode: defaultMode });
  return folder;
}

/** It exists: the pod would not have been made otherwise. */
const claimOf = (name: string) =>
  ({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name }, spec: {} }) as const;

async function provision(
  { kube, namespace, dir }: Runner,
  claim: PersistentVolumeClaim,
  node: string,
): Promise<void> {
  const { name, uid = "" } = claim.metadata;
  const path = join(dir, "volumes", uid);
  mkdirSync(path, { recursive: true });
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }];
  const { accessModes, storageClassName = "" } = claim.spec ?? {};
  await kube.create(volumes, {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `pvc-${uid}` },
    spec: {
      accessModes,
      storageClassName,
      capacity: { storage: "1Gi" },
      persistentVolumeReclaimPolicy: "Retain",
      local: { path },
      claimRef: { namespace, name, uid },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  } as Volume);
}

type Start = { name: string; container: Container; folders: ReadonlyMap<string, string> };

async function runContainer(runner: Runner, { name, container, folders }: Start): Promise<number | null> {
  const { programs, logs, running } = runner;
  const mounts = new Map(
    (container.volumeMounts ?? []).map((mount) => [mount.mountPath, folders.get(mount.name) ?? ""]),
  );
  // What a container sees at its mount path lies here in a folder of its own.
  const args = (container.args ?? []).map((arg) => {
    const [option = "", path = ""] = arg.split("=");
    return mounts.has(path) ? `${option}=${mounts.get(path)}` : arg;
  });
  const env = Object.fromEntries((container.env ?? []).map((one) => [one.name, one.value ?? ""]));
  logs.set(name, "");
  const child = spawn(process.execPath, [...(programs[container.image] ?? []), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], ...env },
  });
  running.set(name, child);
  const received = [child.stdout, child.stderr].map(async (stream) => {
    for await (const line of createInterface({ input: stream }))
      logs.set(name, `${logs.get(name)}${new Date().toISOString()} ${line}\n`);
  });
  await say(runner, name, { phase: "Running", podIP: "127.0.0.1" });
  if (child.exitCode === null && child.signalCode === null) await once(child, "close");
  await Promise.all(received);
  running.delete(name);
  return child.exitCode;
}

/** A pod that has a node is gone only when the node says so. */
async function end({ kube, namespace, running }: Runner, { metadata }: Pod): Promise<void> {
  const { name, uid = "" } = metadata;
  running.get(name)?.kill("SIGTERM");
  await kube.remove(resources.pods, { name, namespace }, { uid, gracePeriodSeconds: 0 });
}
