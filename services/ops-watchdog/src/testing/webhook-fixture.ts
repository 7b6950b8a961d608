// Webhooks on a real PostgreSQL and a real nats-server, with receivers that are real HTTP servers.

import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSettings } from "@svc/config";
import { patience } from "@svc/local-stack/testing";
import type { Mesh } from "@svc/mesh";
import { startTestNats, type TestNats } from "@svc/mesh/testing";
import { accounts, type EventContract, eventSubject, type MemberFacts, members, notices } from "@svc/proto";
import { createWire, type TestDatabase, type Wire } from "@svc/store/testing";
import { createLogger, createRegistry } from "@svc/telemetry";
import { settings as schema } from "../config.ts";
import type { Tables } from "../database.ts";
import { startOpsWatchdog } from "../service.ts";
import type { Resolve } from "../webhook/address.ts";
import { createWatchdogDatabase } from "./fixture.ts";

type Received = { url: string; headers: IncomingMessage["headers"]; body: string };
type Receiver = {
  url: string;
  received: Received[];
  /** What it answers; 204 unless set. */
  answer: ((response: ServerResponse, request: Received) => void) | undefined;
  close: () => void;
};

async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const seen = { url: request.url ?? "", headers: request.headers, body };
      receiver.received.push(seen);
      if (receiver.answer) receiver.answer(response, seen);
      else response.writeHead(204).end();
    });
  });
  const receiver: Receiver = {
    ...{ url: "", received: [], answer: undefined },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

/** What lifecycle and identity would say. */
type Others = {
  /** By server. */
  sharing: Map<string, { owner_id?: string; members: MemberFacts[] }>;
  isLifecycleAway: boolean;
  /** Accounts that cannot be used. */
  disabled: Set<string>;
  mails: { user_id: string; kind: string; facts: Record<string, string> }[];
};

export type WebhookFixture = Others & {
  gateway: Mesh;
  /** That NATS may be used by tests; it is stopped here. */
  nats: TestNats;
  database: TestDatabase;
  receivers: readonly [Receiver, Receiver, Receiver];
  /** DNS: addresses by name, taken one after the other, the last one stays. */
  names: Map<string, string[][]>;
  /** In front of the database. */
  wire: Wire;
  /** State of the watchdog. */
  state: { dir: string; copyDir: string };
  /** Starts another replica; answers how it is stopped. */
  startReplica: () => Promise<() => Promise<void>>;
  /** Publishes an event as its owner does. */
  publish: <D>(contract: EventContract<D>, data: D, id?: string) => Promise<void>;
  sql: TestDatabase["admin"];
  stop: () => Promise<void>;
};

export async function startWebhookFixture(more: readonly string[] = []): Promise<WebhookFixture> {
  const [database, nats, ...receivers] = await Promise.all([
    createWatchdogDatabase(),
    startTestNats(),
    startReceiver(),
    startReceiver(),
    startReceiver(),
  ]);
  const wire = await createWire(database.url);
  const dir = mkdtempSync(join(tmpdir(), "svc-webhooks-"));
  const others: Others = { sharing: new Map(), isLifecycleAway: false, disabled: new Set(), mails: [] };
  const names: WebhookFixture["names"] = new Map();
  const [gateway, lifecycle, identity, storage, builds] = await Promise.all([
    nats.connect("gateway-external"),
    nats.connect("lifecycle"),
    nats.connect("identity"),
    nats.connect("storage"),
    nats.connect("builds"),
  ]);
  const publishers: Readonly<Record<string, Mesh>> = { lifecycle, storage, builds };
  const state = { dir: join(dir, "state"), copyDir: join(dir, "copy") };
  const fixture = { gateway, nats, database, receivers, names, wire, state, sql: database.admin };
  serveOthers(others, { lifecycle, identity });
  const overrides = [
    `ops_watchdog.state_dir=${state.dir}`,
    `ops_watchdog.state_copy_dir=${state.copyDir}`,
    `ops_watchdog.webhook_inside=${JSON.stringify(receivers.map(({ url }) => url))}`,
    // What is cut off too early is sent twice.
    `ops_watchdog.webhook_timeout=${Math.min(20_000, 800 * patience)}ms`,
    "ops_watchdog.webhook_alerts_every=100ms",
    ...more,
  ];
  const resolve: Resolve = async (host) => {
    const answers = names.get(host) ?? [[]];
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
  };
  const replica = () => startReplica({ nats, wire, database, overrides, resolve });
  const stops = [await replica()];
  let published = 0;
  return Object.assign(others, fixture, {
    startReplica: replica,
    publish: async <D>(contract: EventContract<D>, data: D, id = `test-${published++}`) => {
      const body = Buffer.from(JSON.stringify(data));
      await publishers[contract.owner]?.publish([{ id, subject: eventSubject(contract, data), body }]);
    },
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await Promise.all([gateway, lifecycle, identity, storage, builds].map((mesh) => mesh.drain(500)));
      for (const receiver of receivers) receiver.close();
      await nats.stop();
      await wire.cut();
      await database.drop();
      rmSync(dir, { recursive: true, force: true });
    },
  });
}

function serveOthers(others: Others, { lifecycle, identity }: { lifecycle: Mesh; identity: Mesh }): void {
  lifecycle.serve(members.readSharing, (context, { name }) => {
    if (others.isLifecycleAway) throw context.fault("unavailable");
    const found = others.sharing.get(name);
    if (!found) throw context.fault("not_found");
    return found;
  });
  identity.serve(accounts.describeAccounts, (_context, { user_ids }) => {
    const live = user_ids.filter((id) => !others.disabled.has(id));
    return { accounts: Object.fromEntries(live.map((id) => [id, { username: id, mc_uuids: [] }])) };
  });
  identity.serve(notices.sendNotice, (_context, mail) => {
    others.mails.push(mail);
    return { result: "delivered" as const };
  });
}

type Place = {
  nats: TestNats;
  wire: Wire;
  database: TestDatabase;
  overrides: readonly string[];
  resolve: Resolve;
};

async function startReplica({ nats, wire, database, overrides, resolve }: Place) {
  const store = database.open<Tables>({ url: wire.url });
  const mesh = await nats.connect("ops-watchdog");
  const running = await startOpsWatchdog({
    settings: loadSettings(schema, { overrides }),
    ...{ mesh, store, resolve },
    environment: { file: undefined, overrides: [...overrides] },
    registry: createRegistry("ops-watchdog", "0.0.1"),
    log: createLogger("ops-watchdog", "silent"),
  });
  return async () => {
    await running.stop?.();
    await mesh.drain(500);
    await store.close();
  };
}
