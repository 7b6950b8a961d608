// Builds on a real PostgreSQL and a real nats-server.

import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import type { Kube } from "@svc/kube";
import type { CallOptions, Mesh } from "@svc/mesh";
import { account, startTestNats, type TestNats } from "@svc/mesh/testing";
import { AuditEntry } from "@svc/proto";
import { createTestDatabase, createWire, type TestDatabase, type Wire } from "@svc/store/testing";
import { createLogger, createRegistry, type Registry } from "@svc/telemetry";
import { settings as schema } from "../config.ts";
import type { BuildsDb, Tables } from "../database.ts";
import { startBuilds } from "../service.ts";

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

export function createBuildsDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ schema: "builds", migrations });
}

export type Fixture = {
  db: BuildsDb;
  wire: Wire;
  nats: TestNats;
  gateway: Mesh;
  lifecycle: Mesh;
  /** As the person at the host calls. */
  operator: Mesh;
  /** As the service itself calls. */
  builds: Mesh;
  identity: Mesh;
  audits: AuditEntry[];
  /** Values of this series on `/metrics`, one for each replica. */
  metric: (series: string) => Promise<number[]>;
  /** Starts one more replica with settings as `--set` has them. */
  start: (overrides: readonly string[]) => Promise<void>;
  stop: () => Promise<void>;
};

export async function startFixture(
  overrides: readonly string[] = [],
  options: { kube?: Kube; env?: NodeJS.ProcessEnv } = {},
): Promise<Fixture> {
  const [database, nats] = await Promise.all([createBuildsDatabase(), startTestNats()]);
  const wire = await createWire(database.url);
  const ends: (() => Promise<void>)[] = [];
  const registries: Registry[] = [];
  const start = async (more: readonly string[]) => {
    const store = database.open<Tables>({ url: wire.url });
    const mesh = await nats.connect("builds");
    const settings = loadSettings(schema, { overrides: more });
    const registry = createRegistry("builds", "test");
    registries.push(registry);
    const about = { log: createLogger("builds", "silent"), registry };
    const running = await startBuilds({ settings, mesh, store, ...about }, options);
    const relay = database.relayOutbox(mesh.publish, wire.url);
    ends.push(async () => {
      await running.stop?.();
      await relay.close();
      await mesh.drain(500);
      await store.close();
    });
  };
  await start(overrides);
  const watching = database.open<Tables>();
  const [gateway, lifecycle, identity, operator, builds] = await Promise.all(
    (["gateway-external", "lifecycle", "identity", "operator", "builds"] as const).map((service) =>
      nats.connect(service),
    ),
  );
  if (!gateway || !lifecycle || !identity || !operator || !builds) throw new Error("a caller is missing");
  const audits: AuditEntry[] = [];
  await identity.consume<AuditEntry>({
    durable: "identity-audit",
    stream: "AUDIT",
    subjects: ["svc.audit.>"],
    parse: (body) => AuditEntry.parse(body),
    handle: async ({ data }) => void audits.push(data),
  });
  return {
    db: watching.db,
    wire,
    nats,
    gateway,
    lifecycle,
    operator,
    builds,
    identity,
    audits,
    metric: (series) => Promise.all(registries.map((registry) => valueIn(registry, series))),
    start,
    stop: async () => {
      for (const end of ends) await end();
      await Promise.all([gateway, lifecycle, identity, operator, builds].map((mesh) => mesh.drain(500)));
      await watching.close();
      await Promise.all([wire.cut(), nats.stop()]);
      await database.drop();
    },
  };
}

async function valueIn(registry: Registry, series: string): Promise<number> {
  const lines = (await registry.metrics()).split("\n");
  const line = lines.find((one) => one.startsWith(`${series} `)) ?? "";
  return Number(line.slice(series.length));
}

export const admin: CallOptions = account("usr-admin", "admin");
