// lifecycle's passes over ten thousand servers: the shipped reconciler, work queue, projection and RCON client. The
// cluster is a map in this process that answers at once, so that what is measured is our own time and not the cluster's.

import { loadSettings } from "@svc/config";
import {
  createWorkQueue,
  type Informer,
  type Kube,
  type KubeObject,
  type Pod,
  type Resource,
  type Secret,
  type Service,
  type StatefulSet,
  type Target,
} from "@svc/kube";
import { MinecraftServer } from "@svc/proto";
import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import type { Server } from "../../../services/lifecycle/src/cluster/resource.ts";
import type { Watched } from "../../../services/lifecycle/src/cluster/watched.ts";
import { settings } from "../../../services/lifecycle/src/config.ts";
import type { Tables } from "../../../services/lifecycle/src/database/schema.ts";
import { startProjection } from "../../../services/lifecycle/src/reconcile/projection.ts";
import { createRconAccess, type RconAccess } from "../../../services/lifecycle/src/reconcile/rcon-access.ts";
import { createReconciler } from "../../../services/lifecycle/src/reconcile/reconcile.ts";
import { createServerStore } from "../../../services/lifecycle/src/server/store.ts";
import { serverName } from "../anchors/servers.ts";
import { need, serveParent } from "../harness/parent.ts";

const namespace = "minecraft";
const password = "bench";
const log = createLogger("lifecycle", "warn");

type Maps = {
  servers: Map<string, Server>;
  statefulSets: Map<string, StatefulSet>;
  services: Map<string, Service>;
  pods: Map<string, Pod>;
};

function informer<T extends KubeObject>(
  items: Map<string, T>,
  onChange: (name: string) => void = () => {},
): Informer<T> {
  return {
    get: (name) => items.get(name),
    list: () => [...items.values()],
    keys: () => items.keys(),
    get size() {
      return items.size;
    },
    keysVersion: 0,
    remember: (object) => {
      items.set(object.metadata.name, object);
      onChange(object.metadata.name);
    },
    ready: Promise.resolve(),
    isReady: () => true,
    isLive: () => true,
    stop: async () => {},
  };
}

/** Answers as an API server would whose controllers take no time; `addressOf` is the Service's. */
function instantCluster(maps: Maps, addressOf: (name: string) => string): Kube {
  let version = 0;
  const stamp = <T extends KubeObject>(object: T): T => {
    const metadata = {
      uid: `uid-${object.metadata.name}`,
      ...object.metadata,
      resourceVersion: String(++version),
    };
    return { ...object, metadata };
  };
  const settle = (set: StatefulSet): StatefulSet => {
    const replicas = set.spec.replicas ?? 0;
    const name = `${set.metadata.name}-0`;
    const conditions = [{ type: "Ready", status: "True" }];
    const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name, uid: name }, status: { conditions } };
    if (replicas === 1) maps.pods.set(name, pod);
    else maps.pods.delete(name);
    return stamp({ ...set, status: { replicas, readyReplicas: replicas, observedGeneration: 1 } });
  };
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "bench" },
    data: { password: Buffer.from(password).toString("base64") },
  };
  const write = (kind: Resource<KubeObject>, object: KubeObject): KubeObject => {
    if (kind.plural === "statefulsets") return settle(object as StatefulSet);
    if (kind.plural !== "services") return stamp(object);
    const service = object as Service;
    const clusterIP = service.spec?.clusterIP ?? addressOf(object.metadata.name);
    return stamp({ ...service, spec: { ...service.spec, clusterIP } });
  };
  const scaled = ({ name }: Target) => {
    const set = maps.statefulSets.get(name);
    if (!set) throw new Error(`there is no set ${name}`);
    return settle({ ...set, spec: { ...set.spec, replicas: 0 } });
  };
  const calls = {
    create: async (kind: Resource<KubeObject>, object: KubeObject) => write(kind, object),
    replace: async (kind: Resource<KubeObject>, object: KubeObject) => write(kind, object),
    replaceStatus: async (_kind: Resource<KubeObject>, object: KubeObject) => stamp(object),
    patch: async (_kind: Resource<KubeObject>, target: Target) => scaled(target),
    find: async (kind: Resource<KubeObject>) => (kind.plural === "secrets" ? secret : undefined),
    list: async () => ({ items: [], resourceVersion: "1" }),
  };
  return calls as unknown as Kube;
}

type FleetOptions = {
  count: number;
  addressOf?: (index: number) => string;
  rcon?: "real" | "at-once";
  overrides?: string[];
  onChange?: (name: string) => void;
};

/** Servers that all want to run, and a reconciler for them. */
function openFleet({
  count,
  addressOf = () => "127.0.0.1",
  rcon = "at-once",
  overrides = [],
  onChange,
}: FleetOptions) {
  const maps: Maps = { servers: new Map(), statefulSets: new Map(), services: new Map(), pods: new Map() };
  const index = new Map(Array.from({ length: count }, (_, at) => [serverName(at), at]));
  const chosen = loadSettings(settings, { overrides }).lifecycle;
  const kube = instantCluster(maps, (name) => addressOf(index.get(name) ?? 0));
  for (const name of index.keys()) maps.servers.set(name, makeServer(name));
  const copies = {
    servers: informer(maps.servers, onChange),
    statefulSets: informer(maps.statefulSets),
    services: informer(maps.services),
    pods: informer(maps.pods),
    nodes: informer(new Map()),
  };
  const real = createRconAccess({ kube, settings: chosen });
  const atOnce: RconAccess = {
    ...real,
    probe: async () => ({ kind: "reached", count: { online: 0, max: 20 } }),
    announce: async () => true,
    saveWorld: async () => {},
  };
  const reconciler = createReconciler({
    kube,
    watched: copies as Watched,
    events: { record: () => {}, idle: async () => {} },
    settings: chosen,
    rcon: rcon === "real" ? real : atOnce,
    now: Date.now,
    isHeld: () => true,
    onStarted: () => {},
    onPhase: () => {},
  });
  return { maps, reconciler, settings: chosen, servers: copies.servers };
}

function makeServer(name: string): Server {
  return {
    apiVersion: `${MinecraftServer.group}/${MinecraftServer.version}`,
    kind: MinecraftServer.kind,
    metadata: { name, namespace, uid: name, resourceVersion: "1", generation: 1 },
    spec: {
      subdomain: name,
      image: "bench",
      desiredState: "Running",
      rcon: { enabled: true, secretRef: { name: "bench", key: "password" } },
      idle: { autoStopEnabled: false, emptySecondsBeforeStop: 0 },
    },
  };
}

type Fleet = ReturnType<typeof openFleet>;

/** One pass over each of these, as the leader's queue runs them; milliseconds until the last is done. */
async function passOver(
  fleet: Fleet,
  names: Iterable<string>,
  onDone?: (name: string) => void,
): Promise<number> {
  const startedAt = performance.now();
  const all = new Set(names);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const queue = createWorkQueue({
    concurrency: fleet.settings.concurrency + fleet.settings.max_probes,
    handle: async (name, signal) => {
      await fleet.reconciler.reconcile(name, signal);
      onDone?.(name);
      all.delete(name);
      if (all.size === 0) resolve();
      return undefined;
    },
    onError: (_name, error) => reject(error),
  });
  for (const name of all) queue.add(name);
  await promise;
  const tookMs = performance.now() - startedAt;
  await queue.close();
  return tookMs;
}

async function start(fleet: Fleet): Promise<void> {
  for (let pass = 0; pass < 3; pass++) await passOver(fleet, fleet.maps.servers.keys());
}

const cpuMicros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Passes that change nothing: servers that run and are not yet to be counted again. */
async function noChange({ count, seconds }: { count: number; seconds: number }) {
  const fleet = openFleet({ count, overrides: ["lifecycle.count_interval=1h"] });
  await start(fleet);
  const cpu = cpuMicros();
  const resyncMs = await passOver(fleet, fleet.maps.servers.keys());
  const cores = (cpuMicros() - cpu) / (resyncMs * 1_000);
  let passes = 0;
  let tookMs = 0;
  while (tookMs < seconds * 1_000) {
    tookMs += await passOver(fleet, fleet.maps.servers.keys());
    passes += count;
  }
  return { perSecond: passes / (tookMs / 1_000), resyncMs, cores };
}

/** Starts and stops of all servers: passes that change the phase, each until it is recorded in PostgreSQL; a second. */
async function changing({ count, seconds }: { count: number; seconds: number }) {
  const store = openStore<Tables>({ url: need("SVC_DATABASE_URL"), schema: "lifecycle", poolSize: 10, log });
  const plain = createServerStore(store);
  const recorded = new Map<string, string>();
  let changes = 0;
  const changePhase: typeof plain.changePhase = async (change) => {
    const done = await plain.changePhase(change);
    recorded.set(change.name, change.to);
    changes += 1;
    return done;
  };
  const changed: { to?: (name: string) => void } = {};
  const fleet = openFleet({ count, onChange: (name) => changed.to?.(name) });
  const view = {
    replace: async () => {},
    put: async () => {},
    remove: async () => {},
    close: async () => {},
  };
  const projection = startProjection({
    mesh: { writeView: async () => view } as never,
    store: { ...plain, changePhase },
    servers: fleet.servers,
    settings: { auto_restarts: 3, stop_notice: 30_000, keep_awake_longest: 604_800_000 },
    log,
    ending: new AbortController().signal,
  });
  changed.to = projection.changed;
  const names = [...fleet.maps.servers.keys()];
  const isBehind = (name: string) => recorded.get(name) !== fleet.maps.servers.get(name)?.status?.phase;
  const step = async () => {
    await passOver(fleet, names);
    while (names.some(isBehind)) await new Promise((wake) => setTimeout(wake, 1));
  };
  await step();
  await step();
  const [before, startedAt] = [changes, performance.now()];
  for (let turn = 0; performance.now() - startedAt < seconds * 1_000; turn++) {
    const desiredState = turn % 2 === 0 ? "Stopped" : "Running";
    for (const [name, server] of fleet.maps.servers)
      fleet.maps.servers.set(name, { ...server, spec: { ...server.spec, desiredState } });
    // Running -> Stopping -> (scaled down) -> Stopped, or Stopped -> Starting -> Running.
    for (let pass = 0; pass < (turn % 2 === 0 ? 3 : 2); pass++) await step();
  }
  const perSecond = (changes - before) / ((performance.now() - startedAt) / 1_000);
  await projection.close();
  await store.close();
  return { perSecond };
}

type Round = { count: number; address: string; slowAddress: string; slowShare: number };

/** One count of all players, over real connections. */
async function round({ count, address, slowAddress, slowShare }: Round) {
  const every = slowShare > 0 ? Math.round(1 / slowShare) : 0;
  const isSlow = (at: number) => every > 0 && at % every === 0;
  const fleet = openFleet({
    count,
    rcon: "real",
    addressOf: (at) => (isSlow(at) ? slowAddress : address),
    overrides: ["lifecycle.count_interval=1ms", "lifecycle.probe_retry=1ms"],
  });
  const quick = [...fleet.maps.servers.keys()].filter((_name, at) => !isSlow(at));
  const slow = [...fleet.maps.servers.keys()].filter((_name, at) => isSlow(at));
  for (let pass = 0; pass < 2; pass++) await passOver(fleet, quick);
  // Those that hang were running before: three misses are needed to say otherwise.
  for (const name of slow) await makeRunning(fleet, name, quick[0] ?? "");
  const cpu = cpuMicros();
  const doneAt: number[] = [];
  const startedAt = performance.now();
  const names = [...fleet.maps.servers.keys()];
  const isQuick = new Set(quick);
  const roundMs = await passOver(
    fleet,
    names,
    (name) => isQuick.has(name) && doneAt.push(performance.now() - startedAt),
  );
  return { roundMs, cpuUs: (cpuMicros() - cpu) / count, healthyMs: Math.max(...doneAt) };
}

async function makeRunning(fleet: Fleet, name: string, like: string): Promise<void> {
  await fleet.reconciler.reconcile(name, new AbortController().signal).catch(() => undefined);
  const [server, model] = [fleet.maps.servers.get(name), fleet.maps.servers.get(like)];
  if (server && model?.status) fleet.maps.servers.set(name, { ...server, status: model.status });
}

serveParent({ noChange, changing, round });
