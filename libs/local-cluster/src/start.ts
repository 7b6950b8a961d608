import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createApiServer } from "./apiserver/server.ts";
import { STORAGE_CLASS } from "./bootstrap.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { hostEnvironment } from "./config.ts";
import { tolerate } from "./controllers/context.ts";
import { createInformer } from "./controllers/informer.ts";
import type { Service } from "./controllers/network/service-index.ts";
import type { Pod } from "./controllers/objects.ts";
import { isFinished } from "./controllers/objects.ts";
import {
  CLAIMS,
  ENDPOINTS,
  NAMESPACES,
  PODS,
  SERVICES,
  STORAGE_CLASSES,
  VOLUMES,
} from "./controllers/refs.ts";
import type { ControllerSources } from "./controllers/start.ts";
import { startControllers } from "./controllers/start.ts";
import type { Claim, PersistentVolume } from "./controllers/volume/objects.ts";
import { CLASS_NAME } from "./controllers/volume/objects.ts";
import { createImages } from "./image/images.ts";
import { openImageStore } from "./image/store.ts";
import { openTable } from "./image/table.ts";
import type { KubeconfigServer } from "./kubeconfig.ts";
import { kubeconfigOf } from "./kubeconfig.ts";
import { lockDataDir } from "./lock.ts";
import { createAddressPool } from "./node/address-pool.ts";
import { startNodeAgent } from "./node/agent.ts";
import { sweep } from "./node/orphan-processes.ts";
import type { LogClocks } from "./node/pod-logs.ts";
import { createPodLogs } from "./node/pod-logs.ts";
import { createPodUsages } from "./node/pod-usage.ts";
import { registerNode } from "./node/register.ts";
import type { Endpoints } from "./node/service-proxy.ts";
import { startServiceProxy } from "./node/service-proxy.ts";
import type { ServiceAccountName, TokenEntry } from "./tokens.ts";
import { ADMIN_USER, accountUser, ensureTokens, writePrivate } from "./tokens.ts";

/** Options of a cluster; only `dataDir`, `port` and `images` must be given (docs/reference/local-stack.md#parts). */
type LocalClusterOptions = {
  /** Folder of all data of the cluster: objects, volumes, pods, tokens, kubeconfig files. */
  dataDir: string;
  /** 0 selects a free port; see `url`. */
  port: number;
  host?: string;
  /** The JSON file of the image table; read again when it changes. */
  images: string;
  /**
   * Host and port of the registry whose images may run when the table has their base (docs/reference/images.md#bases). Plain
   * HTTP on loopback, HTTPS elsewhere.
   */
  registry?: string;
  /** How many nodes (`local-1` …) there are; 2 when absent. */
  nodes?: number;
  /** Each gets a token and a file `kubeconfig.<name>`. */
  serviceAccounts?: ServiceAccountName[];
  /** Further users; an entry replaces what the token file has for the same user. */
  tokens?: TokenEntry[];
  /** The first waiting time of a container that keeps crashing, in milliseconds; 10,000 when absent. */
  crashBackoffMs?: number;
  /** The first waiting time of a Job whose pods fail, in milliseconds; 10,000 when absent. */
  jobBackoffMs?: number;
  /** Variables that containers inherit from the machine; PATH, LANG and TZ of this process when absent. */
  hostEnv?: Record<string, string>;
  /** Called with one sentence about an internal error; ignored by default. */
  warn?(text: string): void;
};

/** A running cluster. */
export type LocalCluster = {
  /** The base URL of the API server, plain HTTP on loopback. */
  url: string;
  adminToken: string;
  /** The same API without HTTP, with all permissions. */
  api: ClusterApi;
  /**
   * The kubeconfig text of `admin` or of a user that has a token: plain HTTP for service accounts, HTTPS for others.
   * Throws for an unknown user.
   */
  kubeconfig(user: string): string;
  /** Ends the pods (up to 18 s grace) and the API server; volumes and objects are kept for the next start. */
  close(): Promise<void>;
};

/** Files of pulled images that are kept; what running pods need was copied. */
const IMAGE_STORE_BYTES = 4 * 2 ** 30;
const SHUTDOWN_GRACE_MS = 18_000;
const DEFAULT_BACKOFF_MS = 10_000;

function bootstrap(api: ClusterApi): void {
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    if (api.find(NAMESPACES, name) !== undefined) continue;
    tolerate([409], () =>
      api.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }),
    );
  }
  if (api.find(STORAGE_CLASSES, CLASS_NAME) !== undefined) return;
  tolerate([409], () => api.create(STORAGE_CLASSES, STORAGE_CLASS));
}

type Wiring = {
  options: LocalClusterOptions;
  api: ClusterApi;
  clocks: LogClocks;
  podsDir: string;
  tokens: TokenEntry[];
  warn(text: string): void;
};

function watchShared(api: ClusterApi) {
  const sources = {
    pods: createInformer<Pod>(api, PODS),
    services: createInformer<Service>(api, SERVICES),
    claims: createInformer<Claim>(api, CLAIMS),
    volumes: createInformer<PersistentVolume>(api, VOLUMES),
    endpoints: createInformer<Endpoints>(api, ENDPOINTS),
  };
  return { ...sources, close: () => Object.values(sources).forEach((one) => void one.close()) };
}

async function startNodes(
  { options, api, clocks, podsDir, tokens, warn }: Wiring,
  sources: ControllerSources,
) {
  const uids = (pods: Pod[]) => new Set(pods.map((pod) => pod.metadata.uid ?? ""));
  const pods = api.list(PODS).items as Pod[];
  const living = uids(pods.filter((pod) => !isFinished(pod)));
  const processes = await sweep(podsDir, { known: uids(pods), living });
  const images = createImages({
    findInTable: openTable(options.images),
    registry: options.registry,
    store: await openImageStore(join(options.dataDir, "images"), IMAGE_STORE_BYTES),
  });
  const deps = {
    api,
    clocks,
    podsDir,
    warn,
    processes,
    pods: sources.pods,
    addresses: createAddressPool(),
    images,
    hostEnv: options.hostEnv ?? hostEnvironment(),
    crashBackoffMs: options.crashBackoffMs ?? DEFAULT_BACKOFF_MS,
    volumes: {
      api,
      serviceAccountToken: ({ metadata: { namespace = "default" } }: Pod, name: string) =>
        tokens.find(({ user }) => user === accountUser({ namespace, name }))?.token,
    },
  };
  const starting = Array.from({ length: options.nodes ?? 2 }, async (_, at) => {
    const name = `local-${at + 1}`;
    const hostIP = `127.${at + 1}.0.1`;
    const registration = await registerNode({ api, warn }, name, hostIP);
    const agent = startNodeAgent(deps, name, hostIP);
    return {
      close: async () => {
        await agent.close(SHUTDOWN_GRACE_MS);
        await registration.close();
      },
    };
  });
  return [...(await Promise.all(starting)), images];
}

/** Starts controllers, node agents and the relay on an API server that already listens. */
async function startInside(wiring: Wiring): Promise<() => Promise<void>> {
  const { api, warn, options } = wiring;
  bootstrap(api);
  const sources = watchShared(api);
  const nodes = await startNodes(wiring, sources);
  const relay = startServiceProxy({ warn }, sources);
  const controllers = startControllers({ api, warn }, sources, {
    volumesDir: join(options.dataDir, "volumes"),
    jobBackoffMs: options.jobBackoffMs ?? DEFAULT_BACKOFF_MS,
  });
  return async () => {
    // Controllers first: they would create new pods for those that end now.
    await controllers.close();
    await Promise.all([...nodes.map((node) => node.close()), relay.close()]);
    sources.close();
  };
}

/**
 * Starts a whole cluster in this process: API server, controllers, nodes. Fails with one sentence when the port or
 * the folder is in use or the disk is full. After a crash the cluster resumes: its pods are taken over with their
 * processes. Containers are plain processes of this user: security contexts, resource limits, read-only mounts and
 * network policies are stored but not enforced (docs/reference/local-stack.md#parts).
 */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { dataDir, serviceAccounts = [], warn = () => undefined } = options;
  const podsDir = join(dataDir, "pods");
  await mkdir(podsDir, { recursive: true, mode: 0o700 });
  const unlock = await lockDataDir(dataDir);
  const tokenFile = join(dataDir, "tokens.json");
  const tokens = await ensureTokens(tokenFile, serviceAccounts, options.tokens ?? []);
  const clocks: LogClocks = new Map();
  const podLogs = createPodLogs(podsDir, clocks);
  const podUsages = createPodUsages(podsDir);
  const dataFile = join(dataDir, "cluster.sqlite");
  const server = createApiServer({ dataFile, tokens: tokenFile, podLogs, podUsages });
  const tokenOf = (user: string): string => {
    const found = tokens.find((one) => one.user === user)?.token;
    if (found === undefined)
      throw new Error(`the cluster has no token for "${user}"; name it in serviceAccounts or tokens`);
    return found;
  };
  try {
    await server.listen(options.port, options.host ?? "127.0.0.1");
    const kubeconfig = (user: string) =>
      kubeconfigOf(doorFor(user, server), { name: user, token: tokenOf(user) });
    await writePrivate(join(dataDir, "kubeconfig"), kubeconfig(ADMIN_USER));
    for (const account of serviceAccounts) {
      await writePrivate(join(dataDir, `kubeconfig.${account.name}`), kubeconfig(accountUser(account)));
    }
    // Last, so that a failed start leaves nothing behind that runs pods.
    const stopInside = await startInside({ options, api: server.api, clocks, podsDir, tokens, warn });
    const close = async () => {
      await stopInside();
      await server.close();
      await unlock();
    };
    return { url: server.url, adminToken: tokenOf(ADMIN_USER), api: server.api, kubeconfig, close };
  } catch (error) {
    await server.close();
    await unlock();
    throw explain(error, options);
  }
}

/** Services skip the TLS handshake on loopback; kubectl, which people use, sends a token over TLS only. */
function doorFor(user: string, { url, certificate }: { url: string; certificate: string }): KubeconfigServer {
  if (user.startsWith("system:serviceaccount:")) return { url };
  return { url: url.replace(/^http:/, "https:"), certificate };
}

function explain(error: unknown, { port, dataDir }: LocalClusterOptions): unknown {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return new Error(`port ${port} is taken; end the program that listens there or choose another port`, {
      cause: error,
    });
  }
  if (code === "ENOSPC") {
    return new Error(`the disk under ${dataDir} is full; make room and start again`, { cause: error });
  }
  return error;
}
