// Everything that a test of this service needs, all real: PostgreSQL, NATS, and a cluster that runs the demo server.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import { connectKube, type Kube } from "@svc/kube";
import { type LocalCluster, startLocalCluster } from "@svc/local-cluster";
import type { Mesh } from "@svc/mesh";
import { settleAll, startTestNats, type TestNats } from "@svc/mesh/testing";
import { AuditEntry, type ServiceName } from "@svc/proto";
import type { Running } from "@svc/service";
import { createRepeats, openStore } from "@svc/store";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import { createLogger, createRegistry, type Registry } from "@svc/telemetry";
import { settings } from "../config.ts";
import type { Tables } from "../database/schema.ts";
import { startLifecycle } from "../service.ts";
import { type Library, type People, serveBuilds, serveIdentity } from "./fake-services.ts";
import { applyRelease } from "./release-manifests.ts";

const repo = fileURLToPath(new URL("../../../../", import.meta.url));

export const namespace = "minecraft";
export const demoImage = "svc.local/demo-server:1.21.4";

export type TestCluster = {
  cluster: LocalCluster;
  /** With all rights. */
  kube: Kube;
  /** Kubeconfig of the service, with no more rights than the shipped Roles give. */
  serviceKubeconfig: string;
  /** Stops the cluster early. */
  end: () => Promise<void>;
  close: () => Promise<void>;
};

/** A cluster with our definition, our namespace and our Roles. Without nodes no pod gets beyond Pending. */
export async function startTestCluster(options: { nodes?: number } = {}): Promise<TestCluster> {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), "svc-lifecycle-"));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const images = join(dataDir, "images.json");
  const demo = [process.execPath, join(repo, "services/demo-server/src/main.ts")];
  const env = { NODE_COMPILE_CACHE: join(repo, "node_modules/.cache/v8") };
  writeFileSync(images, JSON.stringify({ [demoImage]: { command: demo, env } }));
  const serviceAccounts = [{ namespace: "svc", name: "lifecycle" }];
  const about = { dataDir, port: 0, images, serviceAccounts, crashBackoffMs: 200, ...options };
  const cluster = await startLocalCluster(about);
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= cluster.close();
    return ending;
  };
  stack.defer(end);
  const kube = connectKube({ kubeconfigFile: join(dataDir, "kubeconfig") });
  stack.defer(() => kube.close());
  await applyRelease(kube);
  const owned = stack.move();
  return {
    cluster,
    kube,
    end,
    serviceKubeconfig: join(dataDir, "kubeconfig.lifecycle"),
    close: () => owned.disposeAsync(),
  };
}

export type Fixture = TestCluster & {
  nats: TestNats;
  database: TestDatabase;
  /** As the gateways call. */
  external: Mesh;
  internal: Mesh;
  /** As builds and identity call. */
  builds: Mesh;
  identity: Mesh;
  /** What identity and builds answer; tests change it. */
  people: People;
  library: Library;
  /** Audit entries so far: published ones, and those in the outbox, which no relay empties here. */
  audits: () => Promise<AuditEntry[]>;
  /** Starts a replica of the service; `now` is the clock of its passes. */
  start: (overrides?: readonly string[], databaseUrl?: string, now?: () => number) => Promise<Replica>;
};

export type Replica = { registry: Registry; running: Running; stop: () => Promise<void> };

/** Opens all of it; `close` also stops replicas that still run. */
export async function openFixture(): Promise<Fixture> {
  await using stack = new AsyncDisposableStack();
  const migrations = join(repo, "services/lifecycle/migrations");
  const [base, nats, database] = await settleAll([
    startTestCluster().then((cluster) => stack.adopt(cluster, () => cluster.close())),
    startTestNats().then((nats) => stack.adopt(nats, () => nats.stop())),
    createTestDatabase({ schema: "lifecycle", migrations }).then((own) => stack.adopt(own, () => own.drop())),
  ]);
  const connect = async (name: ServiceName) => {
    const mesh = await nats.connect(name);
    return stack.adopt(mesh, () => mesh.drain(500));
  };
  const [identity, builds, external, internal] = await settleAll([
    connect("identity"),
    connect("builds"),
    connect("gateway-external"),
    connect("gateway-internal"),
  ]);
  const published: AuditEntry[] = [];
  const [people, library] = await Promise.all([serveIdentity(identity), serveBuilds(builds)]);
  await identity.consume<AuditEntry>({
    durable: "identity-audit",
    stream: "AUDIT",
    subjects: ["svc.audit.>"],
    parse: (body) => AuditEntry.parse(body),
    handle: async ({ data }) => void published.push(data),
  });
  const audits = async () => {
    const all = [...published, ...(await readAudits(database))];
    return [...new Map(all.map((entry) => [entry.id, entry])).values()];
  };
  const replicas = new Set<Replica>();
  const start: Fixture["start"] = async (overrides = [], databaseUrl = database.url, now = Date.now) => {
    const kubeconfig = base.serviceKubeconfig;
    const replica = await startReplica({ nats, databaseUrl, kubeconfig, now }, overrides);
    replicas.add(replica);
    return { ...replica, stop: () => (replicas.delete(replica) ? replica.stop() : Promise.resolve()) };
  };
  stack.defer(async () => {
    await Promise.all([...replicas].map((replica) => replica.stop()));
  });
  const owned = stack.move();
  const close = () => owned.disposeAsync();
  return {
    ...base,
    nats,
    database,
    external,
    internal,
    builds,
    identity,
    people,
    library,
    audits,
    start,
    close,
  };
}

/** Audit entries in the outbox. */
export async function readAudits(database: TestDatabase): Promise<AuditEntry[]> {
  const text = "select body from lifecycle.outbox where subject = 'svc.audit.lifecycle' order by id";
  return (await database.admin(text)).map(({ body }) => AuditEntry.parse(JSON.parse(String(body))));
}

type ReplicaNeeds = { nats: TestNats; databaseUrl: string; kubeconfig: string; now: () => number };

async function startReplica(
  { nats, databaseUrl, kubeconfig, now }: ReplicaNeeds,
  overrides: readonly string[],
): Promise<Replica> {
  const log = createLogger("lifecycle", "silent");
  const registry = createRegistry("lifecycle", "test");
  const mesh = await nats.connect("lifecycle", { registry });
  const store = openStore<Tables>({ url: databaseUrl, schema: "lifecycle", poolSize: 5, log });
  const repeats = createRepeats(store, log);
  mesh.answerRepeats(repeats);
  const stopping = new AbortController();
  const { signal } = stopping;
  const chosen = loadSettings(settings, { overrides });
  const runtime = { settings: chosen, log, registry, mesh, store, signal };
  const running = await startLifecycle(runtime, kubeconfig, { now });
  await mesh.announce();
  return {
    registry,
    running,
    stop: async () => {
      stopping.abort();
      await running.stop?.();
      await mesh.drain(500);
      await repeats.close();
      await store.close();
    },
  };
}
