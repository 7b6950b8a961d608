// ops-watchdog on a real PostgreSQL and a real nats-server.

import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import type { CallOptions, Mesh } from "@svc/mesh";
import { account, startTestNats } from "@svc/mesh/testing";
import { AuditEntry } from "@svc/proto";
import { createTestDatabase, type TestDatabase } from "@svc/store/testing";
import { createLogger, createRegistry } from "@svc/telemetry";
import { type Settings, settings as schema } from "../config.ts";
import type { Tables, WatchdogDb } from "../database.ts";
import { startOpsWatchdog } from "../service.ts";

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

export function createWatchdogDatabase(): Promise<TestDatabase> {
  return createTestDatabase({ schema: "ops_watchdog", migrations });
}

export type Fixture = {
  settings: Settings;
  db: WatchdogDb;
  gateway: Mesh;
  audits: AuditEntry[];
  clock: { now: number };
  stop: () => Promise<void>;
};

/** One replica whose clock stands still; nothing is due by itself. */
export async function startFixture(overrides: readonly string[] = []): Promise<Fixture> {
  const [database, nats] = await Promise.all([createWatchdogDatabase(), startTestNats()]);
  const store = database.open<Tables>();
  const mesh = await nats.connect("ops-watchdog");
  const clock = { now: Date.parse("2026-11-22T12:00:00Z") };
  const settings = loadSettings(schema, { overrides });
  const running = await startOpsWatchdog({
    settings,
    mesh,
    store,
    environment: { file: undefined, overrides: [...overrides] },
    registry: createRegistry("ops-watchdog", "0.0.1"),
    log: createLogger("ops-watchdog", "silent"),
    now: () => clock.now,
    auditSweepMs: 200,
  });
  const relay = database.relayOutbox(mesh.publish);
  const [gateway, identity] = await Promise.all([nats.connect("gateway-external"), nats.connect("identity")]);
  const audits: AuditEntry[] = [];
  await identity.consume<AuditEntry>({
    durable: "identity-audit",
    stream: "AUDIT",
    subjects: ["svc.audit.>"],
    parse: (body) => AuditEntry.parse(body),
    handle: async ({ data }) => void audits.push(data),
  });
  return {
    settings,
    db: store.db,
    gateway,
    audits,
    clock,
    stop: async () => {
      await running.stop?.();
      await relay.close();
      await Promise.all([mesh, gateway, identity].map((one) => one.drain(500)));
      await store.close();
      await nats.stop();
      await database.drop();
    },
  };
}

export const admin: CallOptions = account("usr-admin", "admin");
