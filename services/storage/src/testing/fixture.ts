// Storage on a real PostgreSQL, a real nats-server and a cluster that runs real Jobs. Lifecycle answers over NATS from
// the servers in that cluster.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import { testProgram } from "@svc/config/test-program";
import { connectKube, type Kube } from "@svc/kube";
import { startLocalCluster } from "@svc/local-cluster";
import type { Mesh } from "@svc/mesh";
import { settleAll, startTestNats, type TestNats } from "@svc/mesh/testing";
import { AuditEntry, type ServiceName } from "@svc/proto";
import type { Running } from "@svc/service";
import { startOutboxRelay } from "@svc/store";
import { createTestDatabase, createWire, type TestDatabase, type Wire } from "@svc/store/testing";
import { createLogger, createRegistry, type Registry } from "@svc/telemetry";
import { settings as schema } from "../config.ts";
import type { StorageDb, Tables } from "../database/tables.ts";
import { startStorage } from "../service.ts";
import { type LifecycleStub, serveLifecycle } from "./lifecycle-stub.ts";
import { addServerObject, addVolume, applyRelease, namespace, readFiles, writeFiles } from "./worlds.ts";

const repo = fileURLToPath(new URL("../../../../", import.meta.url));
export const demoImage = "svc.local/demo-server:1.21.4";
const agentImage = "svc.local/world-agent";

export function createStorageDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ schema: "storage", migrations: join(repo, "services/storage/migrations") });
}

/** Settings with short intervals. */
export const quick = [
  `k8s.namespace=${namespace}`,
  `storage.agent_image=${agentImage}`,
  "storage.settle_interval=50ms",
  "storage.settle_busy_interval=50ms",
  // Reveals a loop that is not notified of new work.
  "storage.idle_interval=1h",
  "storage.await_interval=20ms",
  "storage.start_patience=1s",
  "storage.lease_duration=2s",
  "storage.lease_renew=200ms",
  "storage.auto_backup_interval=1h",
  "storage.job_cpu=10m",
  "storage.job_memory=16Mi",
  "archive.scheduled_every=0s",
  "archive.file_digests=true",
  "storage.reaper_every=0s",
];

export type Replica = { registry: Registry; running: Running; stop: () => Promise<void> };

export type ReplicaOptions = {
  now?: () => number;
  /** Wraps the replica's client of the cluster. */
  wrapKube?: (kube: Kube) => Kube;
};

export type Fixture = {
  dataDir: string;
  kube: Kube;
  nats: TestNats;
  database: TestDatabase;
  wire: Wire;
  db: StorageDb;
  external: Mesh;
  internal: Mesh;
  identity: Mesh;
  /** A connection as lifecycle. */
  lifecycleMesh: Mesh;
  servers: LifecycleStub;
  audits: AuditEntry[];
  archiveDir: string;
  /** Adds a stopped server whose world has these files. */
  addServer: (name: string, owner: string | undefined, files?: Record<string, string>) => Promise<void>;
  worldOf: (name: string) => Record<string, string>;
  /** Folder of a server's world on this machine. */
  worldPath: (name: string) => string;
  changeWorld: (name: string, files: Record<string, string>) => void;
  /** Makes the agent pause at a step until `resumeAt`. */
  pauseAt: (step: string) => void;
  resumeAt: (step: string) => void;
  /** PID of the process that last reached a step. */
  pidAt: (step: string) => number | undefined;
  start: (overrides?: readonly string[], about?: ReplicaOptions) => Promise<Replica>;
  close: () => Promise<void>;
};

type Parts = {
  kube: Kube;
  nats: TestNats;
  database: TestDatabase;
  wire: Wire;
  dataDir: string;
  archiveDir: string;
  close: () => Promise<void>;
};

/** Arguments of Node by image. */
type Programs = Readonly<Record<string, readonly string[]>>;
/** Starts a cluster that runs these programs and writes `kubeconfig` and `kubeconfig.storage` to `dataDir`. */
export type StartCluster = (dataDir: string, programs: Programs) => Promise<{ close: () => Promise<void> }>;

/** Writes the embedded cluster's table of images; returns its path. */
export function writeImages(dataDir: string, programs: Programs): string {
  const images = join(dataDir, "images.json");
  const table = Object.entries(programs).map(([image, args]) => [
    image,
    // As in the local stack: half of a short Job's time is compilation.
    {
      command: [process.execPath, ...args],
      env: { NODE_COMPILE_CACHE: join(repo, "node_modules/.cache/v8") },
    },
  ]);
  writeFileSync(images, JSON.stringify(Object.fromEntries(table)));
  return images;
}

const startEmbedded: StartCluster = async (dataDir, programs) => {
  const images = writeImages(dataDir, programs);
  const serviceAccounts = [{ namespace: "svc", name: "storage" }];
  return startLocalCluster({ dataDir, port: 0, images, serviceAccounts, crashBackoffMs: 200 });
};

/** Cluster, NATS and database with the release applied; no service yet. */
async function openParts(agent: string, startCluster: StartCluster): Promise<Parts> {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), "svc-storage-"));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const archiveDir = join(dataDir, "archive");
  mkdirSync(archiveDir);
  const programs = {
    [agentImage]: [
      testProgram(join(repo, agent)),
      ...(agent === agents.pausing ? [`--pause-dir=${archiveDir}`] : []),
    ],
    [demoImage]: [testProgram(join(repo, "services/demo-server/src/main.ts"))],
    "svc.local/exits": ["-e", "process.exit(3)", "--"],
    // Behind `--` Node takes no option of the agent for one of its own.
    "svc.local/sleeps": ["-e", "setInterval(() => {}, 1_000)", "--"],
  };
  const [, nats, database] = await settleAll([
    startCluster(dataDir, programs).then((cluster) => stack.adopt(cluster, () => cluster.close())),
    startTestNats().then((nats) => stack.adopt(nats, () => nats.stop())),
    createStorageDatabase().then((database) => stack.adopt(database, () => database.drop())),
  ]);
  const kube = connectKube({ kubeconfigFile: join(dataDir, "kubeconfig") });
  stack.defer(() => kube.close());
  await applyRelease(kube);
  await addVolume(kube, { claim: "svc-archive", path: archiveDir });
  const wire = await createWire(database.url);
  stack.defer(() => wire.cut());
  const owned = stack.move();
  return { kube, nats, database, wire, dataDir, archiveDir, close: () => owned.disposeAsync() };
}

const agents = {
  /** Pauses at the step that a test names. */
  pausing: "services/storage/src/testing/pausing-agent.ts",
  /** The production agent. */
  shipped: "services/world-agent/src/main.ts",
} as const;

export type FixtureOptions = { agent?: keyof typeof agents; cluster?: StartCluster };

export async function openFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const parts = await openParts(agents[options.agent ?? "pausing"], options.cluster ?? startEmbedded);
  await using stack = new AsyncDisposableStack();
  stack.defer(parts.close);
  const { kube, nats, database, dataDir, archiveDir } = parts;
  const watching = stack.adopt(database.open<Tables>(), (store) => store.close());
  const connect = async (name: ServiceName) => {
    const mesh = await nats.connect(name);
    return stack.adopt(mesh, () => mesh.drain(500));
  };
  const [neighbour, identity, external, internal] = await settleAll([
    connect("lifecycle"),
    connect("identity"),
    connect("gateway-external"),
    connect("gateway-internal"),
  ]);
  const lifecycle = await serveLifecycle(neighbour, kube);
  const audits = await followAudits(identity);
  const replicas = new Set<Replica>();
  stack.defer(async () => {
    for (const replica of replicas) await replica.stop();
  });
  const owned = stack.move();
  const folderOf = (name: string) => join(dataDir, "worlds", name);
  const at = (step: string) => join(archiveDir, `at-${step}`);
  return {
    ...parts,
    db: watching.db,
    external,
    internal,
    identity,
    lifecycleMesh: neighbour,
    servers: lifecycle,
    audits,
    addServer: async (name, owner, files = { "level.dat": name }) => {
      if (owner !== undefined) lifecycle.owners.set(name, owner);
      writeFiles(folderOf(name), files);
      await addVolume(kube, { claim: `world-${name}-0`, path: folderOf(name) });
      await addServerObject(kube, name);
    },
    worldPath: folderOf,
    worldOf: (name) => readFiles(folderOf(name)),
    changeWorld: (name, files) => {
      rmSync(folderOf(name), { recursive: true });
      writeFiles(folderOf(name), files);
    },
    pauseAt: (step) => {
      rmSync(at(step), { force: true });
      writeFileSync(join(archiveDir, `pause-${step}`), "");
    },
    resumeAt: (step) => rmSync(join(archiveDir, `pause-${step}`), { force: true }),
    pidAt: (step) => (existsSync(at(step)) ? Number(readFileSync(at(step), "utf8")) || undefined : undefined),
    start: async (overrides = [], about = {}) => {
      const replica = await startReplica(parts, { overrides, ...about });
      replicas.add(replica);
      return { ...replica, stop: () => (replicas.delete(replica) ? replica.stop() : Promise.resolve()) };
    },
    close: () => owned.disposeAsync(),
  };
}

async function followAudits(identity: Mesh): Promise<AuditEntry[]> {
  const audits: AuditEntry[] = [];
  await identity.consume<AuditEntry>({
    durable: "identity-audit",
    stream: "AUDIT",
    subjects: ["svc.audit.>"],
    parse: (body) => AuditEntry.parse(body),
    handle: async ({ data }) => void audits.push(data),
  });
  return audits;
}

async function startReplica(
  { nats, database, wire, dataDir }: Parts,
  about: ReplicaOptions & { overrides: readonly string[] },
): Promise<Replica> {
  const settings = loadSettings(schema, { overrides: [...quick, ...about.overrides] });
  const registry = createRegistry("storage", "test");
  const log = createLogger("storage", "silent");
  const mesh = await nats.connect("storage", { registry });
  const store = database.open<Tables>({ url: wire.url });
  const own = connectKube({ kubeconfigFile: join(dataDir, "kubeconfig.storage") });
  const kube = about.wrapKube?.(own) ?? own;
  const running = await startStorage({ settings, mesh, store, log, registry }, { ...about, kube });
  await mesh.announce();
  const relay = startOutboxRelay({ url: wire.url, schema: "storage", publish: mesh.publish, log });
  const stop = async () => {
    await running.stop?.();
    await relay.close();
    await mesh.drain(500);
    await store.close();
  };
  return { registry, running, stop };
}
