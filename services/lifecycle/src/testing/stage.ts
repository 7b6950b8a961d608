// Everything a test of this service needs, real: PostgreSQL, NATS, and a cluster that runs the demo server.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import { connectKube, type Kube, type KubeObject, resource, resources } from "@svc/kube";
import { type LocalCluster, startLocalCluster } from "@svc/local-cluster";
import type { Mesh } from "@svc/mesh";
import { AuditEntry } from "@svc/proto";
import type { Running } from "@svc/service";
import { openStore } from "@svc/store";
import { createLogger, createRegistry, type Registry } from "@svc/telemetry";
import { parseAllDocuments } from "yaml";
import { startTestNats, type TestNats } from "../../../../libs/mesh/src/testing.ts";
import { createTestDatabase, type TestDatabase } from "../../../../libs/store/src/testing.ts";
import { settings } from "../config.ts";
import { minecraftServerCrd } from "../crd/definition.ts";
import { startLifecycle } from "../lifecycle.ts";
import type { Tables } from "../server/schema.ts";
import { type Library, type People, serveBuilds, serveIdentity } from "./neighbours.ts";

const repo = fileURLToPath(new URL("../../../../", import.meta.url));

export const namespace = "minecraft";
export const demoImage = "svc.local/demo-server:1.21.4";

export type TestCluster = {
  cluster: LocalCluster;
  /** With all rights. */
  kube: Kube;
  /** Kubeconfig of the service, with no more rights than deploy/rbac gives. */
  serviceKubeconfig: string;
  /** Ends the cluster before its time; `close` then has less to do. */
  end: () => Promise<void>;
  close: () => Promise<void>;
};

/** A cluster with our definition, our namespace and our Roles. */
export async function startTestCluster(): Promise<TestCluster> {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-lifecycle-"));
  const images = join(dataDir, "images.json");
  const demo = [process.execPath, join(repo, "services/demo-server/src/main.ts")];
  writeFileSync(images, JSON.stringify({ [demoImage]: { command: demo } }));
  const serviceAccounts = [{ namespace: "svc", name: "lifecycle" }];
  const cluster = await startLocalCluster({ dataDir, port: 0, images, serviceAccounts, crashBackoffMs: 200 });
  const kube = connectKube({ kubeconfigFile: join(dataDir, "kubeconfig") });
  await apply(kube, "namespaces.yaml");
  await kube.create(resources.customResourceDefinitions, minecraftServerCrd());
  await apply(kube, "lifecycle.yaml");
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= cluster.close();
    return ending;
  };
  return {
    cluster,
    kube,
    end,
    serviceKubeconfig: join(dataDir, "kubeconfig.lifecycle"),
    close: async () => {
      kube.close();
      await end();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const plurals: Record<string, [plural: string, isNamespaced: boolean]> = {
  Namespace: ["namespaces", false],
  ServiceAccount: ["serviceaccounts", true],
  Role: ["roles", true],
  RoleBinding: ["rolebindings", true],
  ClusterRole: ["clusterroles", false],
  ClusterRoleBinding: ["clusterrolebindings", false],
};

/** Applies what we ship in deploy/rbac. */
async function apply(kube: Kube, file: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(join(repo, "deploy/rbac", file), "utf8"))) {
    const object = document.toJS() as KubeObject;
    const { kind } = object;
    const [plural, namespaced] = plurals[kind] ?? ["", false];
    const [group, version] = object.apiVersion.includes("/")
      ? object.apiVersion.split("/")
      : ["", object.apiVersion];
    await kube.create(
      resource({ group: group ?? "", version: version ?? "", plural, kind, namespaced }),
      object,
    );
  }
}

export type Stage = TestCluster & {
  nats: TestNats;
  database: TestDatabase;
  /** As the gateways call. */
  external: Mesh;
  internal: Mesh;
  /** What identity and builds would say; tests change it. */
  people: People;
  library: Library;
  /** What was audited so far. */
  audits: AuditEntry[];
  /** Starts a replica of the service. */
  start: (overrides?: readonly string[], databaseUrl?: string) => Promise<Replica>;
};

export type Replica = { registry: Registry; running: Running; stop: () => Promise<void> };

/** All of it; `close` ends what is left, replicas included. */
export async function openStage(): Promise<Stage> {
  const [base, nats, database] = await Promise.all([
    startTestCluster(),
    startTestNats(),
    createTestDatabase({ schema: "lifecycle", migrations: join(repo, "services/lifecycle/migrations") }),
  ]);
  const [identity, builds] = await Promise.all([nats.connect("identity"), nats.connect("builds")]);
  const audits: AuditEntry[] = [];
  const [people, library] = await Promise.all([serveIdentity(identity), serveBuilds(builds)]);
  await identity.consume<AuditEntry>({
    durable: "identity-audit",
    stream: "AUDIT",
    subjects: ["svc.audit.>"],
    parse: (body) => AuditEntry.parse(body),
    handle: async ({ data }) => void audits.push(data),
  });
  const [external, internal] = await Promise.all([
    nats.connect("gateway-external"),
    nats.connect("gateway-internal"),
  ]);
  const replicas = new Set<Replica>();
  const start: Stage["start"] = async (overrides = [], databaseUrl = database.url) => {
    const replica = await startReplica({ nats, databaseUrl, kubeconfig: base.serviceKubeconfig }, overrides);
    replicas.add(replica);
    return { ...replica, stop: () => (replicas.delete(replica) ? replica.stop() : Promise.resolve()) };
  };
  const close = async () => {
    await Promise.all([...replicas].map((replica) => replica.stop()));
    await Promise.all([external, internal, identity, builds].map((mesh) => mesh.drain(500)));
    await database.drop();
    await nats.stop();
    await base.close();
  };
  return { ...base, nats, database, external, internal, people, library, audits, start, close };
}

async function startReplica(
  { nats, databaseUrl, kubeconfig }: { nats: TestNats; databaseUrl: string; kubeconfig: string },
  overrides: readonly string[],
): Promise<Replica> {
  const log = createLogger("lifecycle", "error");
  const registry = createRegistry("lifecycle", "test");
  const mesh = await nats.connect("lifecycle", { registry });
  const store = openStore<Tables>({ url: databaseUrl, schema: "lifecycle", poolSize: 5, log });
  const stopping = new AbortController();
  const { signal } = stopping;
  const chosen = loadSettings(settings, { overrides });
  const running = await startLifecycle({ settings: chosen, log, registry, mesh, store, signal }, kubeconfig);
  await mesh.announce();
  return {
    registry,
    running,
    stop: async () => {
      stopping.abort();
      await running.stop?.();
      await mesh.drain(500);
      await store.close();
    },
  };
}
