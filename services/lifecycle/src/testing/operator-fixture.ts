// Any number of reconcilers on one cluster: real API server, PostgreSQL and NATS; pods on a fake node and players on a
// fake RCON. Every write of a replica is counted, and a replica can be cut off at any moment, as in a crash.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import { connectKube, type Kube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats } from "@svc/mesh/testing";
import { MinecraftServer, type MinecraftServerSpec } from "@svc/proto";
import { openStore, type Store } from "@svc/store";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import { createLogger, createRegistry } from "@svc/telemetry";
import { type Server, servers } from "../cluster/resource.ts";
import { type LifecycleSettings, settings } from "../config.ts";
import { createCrashStore } from "../crash/store.ts";
import type { Tables } from "../database/schema.ts";
import { createOwnerRows } from "../ownership/owner-rows.ts";
import { type Operator, startOperator } from "../reconcile/operator.ts";
import { createRconAccess, type RconAccess } from "../reconcile/rcon-access.ts";
import { createServerStore } from "../server/store.ts";

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

/** What RCON would answer; tests change it. */
type FakeServers = {
  /** Servers whose RCON does not answer. */
  silent: Set<string>;
  /** Players by server; nobody unless set. */
  players: Map<string, number>;
  /** Awaited before a replica writes: a test can change something between its reading and its writing. */
  beforeWrite?: ((verb: string, plural: string) => Promise<void>) | undefined;
};

export type Counts = { writes: number; probes: number; saves: number };

export type OperatorReplica = {
  operator: Operator;
  settings: LifecycleSettings;
  metrics: () => Promise<string>;
  stop: () => Promise<void>;
  /** From now on nothing it sends arrives; it ends without releasing anything. */
  crash: () => Promise<void>;
};

export type OperatorFixture = {
  /** With all rights. */
  kube: Kube;
  namespace: string;
  database: TestDatabase;
  fakeServers: FakeServers;
  /** Of all replicas together. */
  counts: Counts;
  start: (overrides?: readonly string[]) => Promise<OperatorReplica>;
  makeServer: (name: string, spec?: Partial<MinecraftServerSpec>) => Promise<Server>;
  close: () => Promise<void>;
};

/** `serviceKubeconfig` has the rights of the shipped Roles, `kube` has all. */
export async function openOperatorFixture(cluster: {
  kube: Kube;
  serviceKubeconfig: string;
  namespace: string;
}): Promise<OperatorFixture> {
  const [nats, database] = await Promise.all([
    startTestNats(),
    createTestDatabase({ schema: "lifecycle", migrations: join(migrations) }),
  ]);
  const fakeServers: FakeServers = { silent: new Set(), players: new Map() };
  const counts: Counts = { writes: 0, probes: 0, saves: 0 };
  const replicas = new Set<OperatorReplica>();
  const start: OperatorFixture["start"] = async (overrides = []) => {
    const replica = await startReplica({ ...cluster, nats, database, fakeServers, counts }, overrides);
    replicas.add(replica);
    const leave = (end: () => Promise<void>) => () => (replicas.delete(replica) ? end() : Promise.resolve());
    return { ...replica, stop: leave(replica.stop), crash: leave(replica.crash) };
  };
  return {
    kube: cluster.kube,
    namespace: cluster.namespace,
    database,
    fakeServers,
    counts,
    start,
    makeServer: (name, spec) => makeServer(cluster, name, spec),
    close: async () => {
      await Promise.all([...replicas].map((replica) => replica.stop()));
      await database.drop();
      await nats.stop();
    },
  };
}

async function makeServer(
  { kube, namespace }: { kube: Kube; namespace: string },
  name: string,
  spec: Partial<MinecraftServerSpec> = {},
): Promise<Server> {
  return kube.create(servers, {
    apiVersion: `${MinecraftServer.group}/${MinecraftServer.version}`,
    kind: MinecraftServer.kind,
    metadata: { name, namespace },
    spec: {
      subdomain: name,
      image: "svc.local/good:1",
      desiredState: "Stopped",
      fallbackServer: "login",
      rcon: { enabled: true, secretRef: { name: `${name}-rcon`, key: "password" } },
      ...spec,
    },
  });
}

type ReplicaDeps = {
  serviceKubeconfig: string;
  namespace: string;
  nats: TestNats;
  database: TestDatabase;
  fakeServers: FakeServers;
  counts: Counts;
};

async function startReplica(deps: ReplicaDeps, overrides: readonly string[]): Promise<OperatorReplica> {
  const { nats, database, serviceKubeconfig, namespace } = deps;
  const log = createLogger("lifecycle", "silent");
  const chosen = loadSettings(settings, { overrides }).lifecycle;
  const plain = connectKube({ kubeconfigFile: serviceKubeconfig });
  const line = cuttable(plain, deps);
  const mesh: Mesh = await nats.connect("lifecycle");
  const store: Store<Tables> = openStore<Tables>({
    url: database.url,
    schema: "lifecycle",
    poolSize: 4,
    log,
  });
  const registry = createRegistry("lifecycle", "test");
  const operator = startOperator({
    kube: line.kube,
    mesh,
    store: createServerStore(store),
    ownerRows: createOwnerRows(store, log),
    crashes: createCrashStore(store, chosen.crash_mail_pause),
    settings: chosen,
    namespace,
    identity: `replica-${randomUUID()}`,
    registry,
    log,
    rcon: fakeRcon(deps, { kube: line.kube, settings: chosen }),
  });
  await operator.servers.ready;
  const end = async () => {
    await operator.close();
    plain.close();
    await mesh.drain(500);
    await store.close();
  };
  return {
    operator,
    settings: chosen,
    metrics: () => registry.metrics(),
    stop: end,
    crash: () => {
      line.cut();
      return end();
    },
  };
}

const writing = ["create", "replace", "replaceStatus", "patch", "remove"] as const;

/** Counts what is written, leases aside; once cut, every call fails before it is sent. */
function cuttable(
  kube: Kube,
  { counts, fakeServers }: Pick<ReplicaDeps, "counts" | "fakeServers">,
): { kube: Kube; cut: () => void } {
  let isCut = false;
  const guarded: Record<string, unknown> = { ...kube };
  for (const verb of ["get", "find", "list", ...writing] as const) {
    const call = kube[verb] as (...about: unknown[]) => Promise<unknown>;
    guarded[verb] = async (...about: unknown[]) => {
      if (isCut) throw new Error("the replica has crashed");
      const { plural = "" } = about[0] as { plural?: string };
      // Kubernetes Events are recorded by a helper that merges equal ones.
      const isWork = plural !== "leases" && plural !== "events";
      if (isWork && (writing as readonly string[]).includes(verb)) {
        await fakeServers.beforeWrite?.(verb, plural);
        counts.writes += 1;
      }
      return call(...about);
    };
  }
  return {
    kube: guarded as Kube,
    cut: () => {
      isCut = true;
    },
  };
}

/** Reads real Secrets; servers answer as the test says. */
function fakeRcon(
  { fakeServers, counts }: ReplicaDeps,
  real: Parameters<typeof createRconAccess>[0],
): RconAccess {
  const { readSecret, forget } = createRconAccess(real);
  const answers = (name: string) => !fakeServers.silent.has(name);
  return {
    readSecret,
    forget,
    probe: async ({ server }) => {
      counts.probes += 1;
      const { name } = server.metadata;
      if (!answers(name)) return { kind: "failed", problem: "RCON: refused" };
      return { kind: "reached", count: { online: fakeServers.players.get(name) ?? 0, max: 20 } };
    },
    announce: async ({ server }) => answers(server.metadata.name),
    saveWorld: async () => {
      counts.saves += 1;
    },
  };
}
