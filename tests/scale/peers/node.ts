// A node for tests/scale: it takes every pod that is bound to it, says that it is ready, and answers RCON at an address of
// its own for each. No game runs, so that thousands of servers fit on one machine; everything above the pod is real.

import { createServer, type Server, type Socket } from "node:net";
import {
  connectKube,
  createWorkQueue,
  type Informer,
  isKubeError,
  type Kube,
  type Pod,
  resources,
  startInformer,
  type Target,
} from "@svc/kube";
import { createLogger } from "@svc/telemetry";
import type { NodeApi } from "../../../libs/local-cluster/src/cluster-api.ts";
import { registerNode } from "../../../libs/local-cluster/src/node/register.ts";
import { createRemoteApi } from "../../../libs/local-cluster/src/remote/node-api.ts";
import { serveParent } from "../../bench/harness/parent.ts";
import { onPackets, packet } from "../../bench/harness/rcon-packets.ts";

export type NodePlan = {
  kubeconfig: string;
  namespace: string;
  name: string;
  /** For an API server that has neither a scheduler nor routes to its Services: both are then this one's part. */
  isAlone: boolean;
};

export type NodeStats = { ready: number; counts: number; failures: number; lastProblem: string };

type Running = { address: string; server: Server; online: number };

const rconPort = 25_575;
const auth = 3;
const atOnce = 32;
const serverLabel = "svc.internal/server";
/** Every fifth count finds another number of players than the one before. */
const changeShare = 0.2;
const mostOnline = 20;

const log = createLogger("scale-node", "warn");
const running = new Map<string, Running>();
const stats: NodeStats = { ready: 0, counts: 0, failures: 0, lastProblem: "" };
let lastAddress = 256;

function freshAddress(): string {
  lastAddress += 1;
  return `10.${64 + (lastAddress >> 16)}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
}

function answer(name: string, command: string): string {
  const game = running.get(name);
  if (command.startsWith("save-all")) return "Saved the game";
  if (command !== "list" || !game) return "Unknown or incomplete command";
  stats.counts += 1;
  if (Math.random() < changeShare)
    game.online = Math.max(0, Math.min(mostOnline, game.online + (Math.random() < 0.5 ? -1 : 1)));
  return `There are ${game.online} of a max of ${mostOnline} players online: `;
}

function serveRcon(name: string, socket: Socket): void {
  socket.setNoDelay();
  onPackets(socket, (id, type, body) =>
    socket.write(type === auth ? packet(id, 2, "") : packet(id, 0, answer(name, body.toString()))),
  );
}

async function open(name: string, address: string): Promise<Running> {
  const server = createServer((socket) => serveRcon(name, socket));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: address, port: rconPort }, resolve);
  });
  const game = { address, server, online: 0 };
  running.set(name, game);
  return game;
}

function close(name: string): void {
  running.get(name)?.server.close();
  running.delete(name);
}

function readyStatus(pod: Pod, podIP: string) {
  const at = new Date().toISOString().replace(/\.\d+/, "");
  const yes = (type: string) => ({ type, status: "True", lastTransitionTime: at });
  const [container] = pod.spec?.containers ?? [];
  const started = { name: "minecraft", ready: true, started: true, restartCount: 0 };
  const image = { image: container?.image ?? "", imageID: "" };
  return {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: at,
    conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(yes),
    containerStatuses: [{ ...started, ...image, state: { running: { startedAt: at } } }],
  };
}

const isReady = ({ status }: Pod) =>
  status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false;

type Node = NodePlan & { kube: Kube; pods: Informer<Pod> };

/** Where RCON of the pod is asked: at its own address, or at its Service's where nothing leads from there to the pod. */
async function addressFor({ isAlone, kube, namespace }: Node, pod: Pod): Promise<string> {
  const server = pod.metadata.labels?.[serverLabel] ?? "";
  if (!isAlone) return freshAddress();
  const service = await kube.get(resources.services, { name: server, namespace });
  return service.spec?.clusterIP ?? "";
}

async function settle(node: Node, key: string): Promise<undefined> {
  const { kube, namespace, name, isAlone } = node;
  const pod = node.pods.get(key);
  if (!pod) return void close(key);
  const target = { name: key, namespace };
  if (pod.metadata.deletionTimestamp !== undefined) {
    close(key);
    const { uid = "" } = pod.metadata;
    await kube.remove(resources.pods, target, { uid, gracePeriodSeconds: 0 }).catch(ignoreGone);
    return undefined;
  }
  const bound = pod.spec?.nodeName;
  if (bound === undefined && isAlone) await bind(createRemoteApi(kube), target, name);
  if (bound !== name || isReady(pod)) return undefined;
  const game = running.get(key) ?? (await open(key, await addressFor(node, pod)));
  const status = readyStatus(pod, isAlone ? freshAddress() : game.address);
  await kube.patch(resources.pods, target, { merge: { status }, subresource: "status" }).catch(ignoreGone);
  stats.ready += 1;
  return undefined;
}

async function bind(api: NodeApi, target: Required<Target>, name: string): Promise<void> {
  try {
    await api.bindPod(target, name);
  } catch (error) {
    ignoreGone(error);
  }
}

function ignoreGone(error: unknown): void {
  if (!isKubeError(error, 404) && !isKubeError(error, 409)) throw error;
}

async function start(plan: NodePlan): Promise<void> {
  const kube = connectKube({ kubeconfigFile: plan.kubeconfig });
  const warn = (text: string) => log.warn(text);
  await registerNode({ api: createRemoteApi(kube), warn }, plan.name, "10.64.0.1");
  const queue = createWorkQueue({
    concurrency: atOnce,
    handle: (key) => settle(node, key),
    onError: (_key, error) => {
      stats.failures += 1;
      stats.lastProblem = (error as Error).message;
    },
  });
  const pods = startInformer({
    kube,
    namespace: plan.namespace,
    resource: resources.pods,
    labelSelector: serverLabel,
    log,
    onChange: (key) => queue.add(key),
  });
  const node: Node = { ...plan, kube, pods };
  await pods.ready;
}

serveParent({ start, stats: (): NodeStats => stats });
