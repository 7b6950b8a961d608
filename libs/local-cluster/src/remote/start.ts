import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { connectKube, type Kube } from "@svc/kube";
import { ensureIdentity } from "../apiserver/tls/certificate.ts";
import { STORAGE_CLASS } from "../bootstrap.ts";
import type { KubeObject, NodeApi, ResourceRef } from "../cluster-api.ts";
import { hostEnvironment } from "../config.ts";
import { tolerated } from "../controllers/context.ts";
import type { Source } from "../controllers/informer.ts";
import type { Service } from "../controllers/network/service-index.ts";
import type { Pod } from "../controllers/objects.ts";
import { isFinished } from "../controllers/objects.ts";
import * as refs from "../controllers/refs.ts";
import type { Node } from "../controllers/schedule/decide.ts";
import { startScheduler } from "../controllers/schedule/scheduler.ts";
import type { Claim, PersistentVolume } from "../controllers/volume/objects.ts";
import { startProvisioner } from "../controllers/volume/provisioner.ts";
import { createImages } from "../image/images.ts";
import { openImageStore } from "../image/store.ts";
import { openTable } from "../image/table.ts";
import { lockDataDir } from "../lock.ts";
import { createAddressPool, rangeOf } from "../node/address-pool.ts";
import { startNodeAgent } from "../node/agent.ts";
import { sweep } from "../node/orphan-processes.ts";
import type { LogClocks } from "../node/pod-logs.ts";
import { createPodLogs } from "../node/pod-logs.ts";
import { registerNode } from "../node/register.ts";
import { createSandbox, type SandboxOptions } from "../node/sandbox.ts";
import type { Endpoints } from "../node/service-proxy.ts";
import { startServiceProxy } from "../node/service-proxy.ts";
import { startCopy } from "./copy.ts";
import { startDnsServer } from "./dns-server.ts";
import { startLogServer } from "./log-server.ts";
import { createRemoteApi, requestToken } from "./node-api.ts";

export type RemoteNodesOptions = {
  /** An administrator of the cluster. */
  kubeconfig: string;
  /** Folder of pods, volumes and pulled images. */
  dataDir: string;
  /** The JSON file of the image table. */
  images: string;
  /** Their names. */
  nodes: readonly string[];
  /** Only pods of these namespaces get a node here; of all when absent. */
  namespaces?: readonly string[];
  /** Network of the pods, such as `10.244.0.0/16`; all its addresses must be local ones of this machine. */
  podNetwork: string;
  /** Pods then have files, a network and rights of their own (docs/reference/local-stack.md#nodes); needs root. */
  sandbox?: SandboxOptions;
  /** Where the API server finds these nodes' logs: an address, and a port on which something leads to `logListen`. */
  advertise?: { host: string; port: number };
  /** Port on 127.0.0.1, or path of a socket; a free port when absent. */
  logListen?: number | string;
  /** Labels of all nodes beside those that every node has; those of an approved worker when absent. */
  labels?: Record<string, string>;
  warn?(text: string): void;
};

type Settled = Required<Omit<RemoteNodesOptions, "sandbox" | "labels">> &
  Pick<RemoteNodesOptions, "sandbox" | "labels">;

const IMAGE_STORE_BYTES = 4 * 2 ** 30;
const SHUTDOWN_GRACE_MS = 18_000;
const CRASH_BACKOFF_MS = 1_000;

/** Everything that the parts watch, each kind once. */
async function watchAll(kube: Kube, warn: (text: string) => void) {
  const copy = <T extends KubeObject>(ref: ResourceRef, namespaced = true) =>
    startCopy<T>(ref, { kube, warn, namespaced });
  const copies = {
    pods: copy<Pod>(refs.PODS),
    services: copy<Service>(refs.SERVICES),
    endpoints: copy<Endpoints>(refs.ENDPOINTS),
    claims: copy<Claim>(refs.CLAIMS),
    volumes: copy<PersistentVolume>(refs.VOLUMES, false),
    nodes: copy<Node>(refs.NODES, false),
  };
  await Promise.all(Object.values(copies).map((one) => one.ready));
  return copies;
}

type Copies = Awaited<ReturnType<typeof watchAll>>;

async function agentDeps(options: Settled, kube: Kube, copies: Copies) {
  const { dataDir, images, podNetwork, warn } = options;
  const api = createRemoteApi(kube);
  const podsDir = join(dataDir, "pods");
  await mkdir(podsDir, { recursive: true, mode: 0o700 });
  const pods = [...copies.pods.values()];
  const uids = (some: Pod[]) => new Set(some.map((pod) => pod.metadata.uid ?? ""));
  const clocks: LogClocks = new Map();
  return {
    api,
    clocks,
    podsDir,
    warn,
    pods: copies.pods,
    processes: await sweep(podsDir, {
      known: uids(pods),
      living: uids(pods.filter((pod) => !isFinished(pod))),
    }),
    ...(options.sandbox && { sandbox: createSandbox(options.sandbox) }),
    addresses: createAddressPool(rangeOf(podNetwork)),
    images: createImages({
      findInTable: openTable(images),
      store: await openImageStore(join(dataDir, "images"), IMAGE_STORE_BYTES),
    }),
    hostEnv: hostEnvironment(),
    crashBackoffMs: CRASH_BACKOFF_MS,
    volumes: { api, serviceAccountToken: (pod: Pod, account: string) => requestToken(kube, pod, account) },
  };
}

/** What the scheduler may see: another one has the rest of the cluster. */
function within(copies: Copies, { nodes, namespaces }: Settled) {
  const isOurs = ({ metadata: { namespace = "" } }: KubeObject) =>
    namespaces.length === 0 || namespaces.includes(namespace);
  const pods = filtered(copies.pods, isOurs);
  return { ...copies, pods, nodes: filtered(copies.nodes, ({ metadata }) => nodes.includes(metadata.name)) };
}

function filtered<T extends KubeObject>(source: Source<T>, isSeen: (object: T) => boolean): Source<T> {
  return {
    get: (key) => {
      const found = source.get(key);
      return found !== undefined && isSeen(found) ? found : undefined;
    },
    values: () => [...source.values()].filter(isSeen),
    onChange: (listener) =>
      source.onChange((object, previous, deleted) => {
        if (isSeen(object)) listener(object, previous, deleted);
      }),
    assume: (object) => source.assume(object),
  };
}

async function ensureStorageClass(api: NodeApi): Promise<void> {
  await tolerated([409], () => api.create(refs.STORAGE_CLASSES, STORAGE_CLASS));
}

const NOT_READY = "node.kubernetes.io/not-ready";

/** A new node is tainted until the controller of node lifecycles finds it ready; here its own word counts. */
async function admit(api: NodeApi, name: string): Promise<void> {
  const node = (await api.find(refs.NODES, name)) as Node | undefined;
  const taints = node?.spec?.taints?.filter(({ key }) => key !== NOT_READY);
  if (taints !== undefined) await api.mergePatch(refs.NODES, { name }, { spec: { taints } });
}

async function startNode(
  {
    api,
    warn,
    labels,
  }: { api: NodeApi; warn(text: string): void; labels?: Record<string, string> | undefined },
  name: string,
  { host, port }: { host: string; port: number },
) {
  const registration = await registerNode(
    { api, warn, ...(labels && { labels }), logPort: port },
    name,
    host,
  );
  await admit(api, name);
  return registration;
}

async function startAll(options: Settled, kube: Kube) {
  const { dataDir, nodes, advertise, labels, warn } = options;
  const copies = await watchAll(kube, warn);
  const deps = await agentDeps(options, kube, copies);
  const identity = ensureIdentity(join(dataDir, "node.key"), join(dataDir, "node.crt"));
  const logs = createPodLogs(deps.podsDir, deps.clocks);
  const logServer = await startLogServer({ identity, pods: copies.pods, logs, listen: options.logListen });
  const { api } = deps;
  const dns = options.sandbox && (await startDnsServer(options.sandbox.nameserver, copies));
  await ensureStorageClass(api);
  const at = { host: advertise.host, port: advertise.port || logServer.port };
  const running = await Promise.all(
    nodes.map(async (name) => ({
      registration: await startNode({ api, warn, labels }, name, at),
      agent: startNodeAgent(deps, name, at.host),
    })),
  );
  const controllers = [
    startScheduler({ api, warn }, within(copies, options)),
    startProvisioner({ api, warn, ...copies, volumesDir: join(dataDir, "volumes") }),
    startServiceProxy({ warn }, copies),
  ];
  return async () => {
    await Promise.all(controllers.map((one) => one.close()));
    await Promise.all(
      running.map(async ({ agent, registration }) => {
        await agent.close(SHUTDOWN_GRACE_MS);
        await registration.close();
      }),
    );
    await deps.images.close();
    logServer.close();
    dns?.close();
    await Promise.all(Object.values(copies).map((one) => one.close()));
  };
}

/**
 * Runs the pods of any API server as processes of this machine: nodes, with the scheduler, the provisioner of volumes and
 * the addresses of Services, which that cluster must not have besides (docs/reference/local-stack.md#nodes).
 */
export async function startRemoteNodes(options: RemoteNodesOptions): Promise<{ close(): Promise<void> }> {
  const {
    advertise = { host: "127.0.0.1", port: 0 },
    logListen = 0,
    namespaces = [],
    warn = () => undefined,
  } = options;
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockDataDir(options.dataDir);
  const kube = connectKube({ kubeconfigFile: options.kubeconfig });
  try {
    const stop = await startAll({ ...options, advertise, logListen, namespaces, warn }, kube);
    return {
      close: async () => {
        await stop();
        kube.close();
        await unlock();
      },
    };
  } catch (error) {
    kube.close();
    await unlock();
    throw error;
  }
}
