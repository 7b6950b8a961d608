// Consoles without the rest of lifecycle, before real gateways' faces: real PostgreSQL and NATS, and a cluster of logs.

import { createHash, randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { createFace, type FaceServer } from "@svc/http-gateway";
import { connectKube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { accounts, operations } from "@svc/proto";
import { createLogger, createRegistry, type Registry } from "@svc/telemetry";
import { createSessions } from "../../../../../libs/http-gateway/src/access/sessions.ts";
import { startTestNats, type TestNats } from "../../../../../libs/mesh/src/testing.ts";
import { createTestDatabase, type TestDatabase } from "../../../../../libs/store/src/testing.ts";
import type { LifecycleSettings } from "../../config.ts";
import { startConsole } from "../../console/serve.ts";
import type { LifecycleStore, Tables } from "../../database/schema.ts";
import type { ServerDeps } from "../../server/deps.ts";
import { createServerStore } from "../../server/store.ts";
import { defaults } from "../observed.ts";
import { type LogCluster, startLogCluster } from "./log-cluster.ts";

type ConsoleReplica = {
  registry: Registry;
  /** Cuts it off the database as if the process were gone, but for what it still reads and writes. */
  stop: () => Promise<void>;
};

type Gateway = { port: number; registry: Registry; close: () => Promise<void> };

export type ConsoleFixture = {
  cluster: LogCluster;
  nats: TestNats;
  database: TestDatabase;
  identity: Mesh;
  /** Cookie of an account of its own; the n-th account owns nothing but is staff. */
  cookieOf: (n: number) => string;
  hashOf: (n: number) => string;
  startReplica: (more?: Partial<LifecycleSettings>, databaseUrl?: string) => Promise<ConsoleReplica>;
  startGateway: (settings?: Parameters<typeof createFace>[0]["settings"]) => Promise<Gateway>;
  /** Ends every replica and gateway that is left. */
  endParts: () => Promise<void>;
  close: () => Promise<void>;
};

const migrations = fileURLToPath(new URL("../../../migrations/", import.meta.url));
const adminHost = "op.test";
const log = createLogger("lifecycle", "silent");

export async function openConsoleFixture(): Promise<ConsoleFixture> {
  const [cluster, nats, database] = await Promise.all([
    startLogCluster(),
    startTestNats(),
    createTestDatabase({ schema: "lifecycle", migrations }),
  ]);
  const identity = await nats.connect("identity");
  identity.serve(accounts.resolveSession, (_context, { hash }) => {
    const user_id = `usr-${hash.slice(0, 12)}`;
    const live = {
      state: "live",
      user_id,
      username: "staff",
      role: "admin",
      setup: false,
      host: "operator",
    } as const;
    return { ...live, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  });
  await identity.announce();
  const closers: (() => Promise<void>)[] = [];
  const keep = <T extends { close: () => Promise<void> }>(one: T): T => {
    closers.push(one.close);
    return one;
  };
  const endParts = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  const cookieOf = (n: number) => `svc_session=${String(n).padStart(43, "a")}`;
  return {
    ...{ cluster, nats, database, identity, cookieOf },
    hashOf: (n) => createHash("sha256").update(String(n).padStart(43, "a")).digest("hex"),
    startReplica: async (more = {}, url = database.url) => {
      const store = database.open<Tables>({ url, poolSize: 5 });
      const replica = keep(await startReplica({ cluster, nats, store }, more));
      return { registry: replica.registry, stop: replica.close };
    },
    startGateway: async (settings = {}) => keep(await startGateway(nats, settings)),
    endParts,
    close: async () => {
      await endParts();
      await identity.drain(500);
      await database.drop();
      await nats.stop();
      await cluster.close();
    },
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

type Around = { cluster: LogCluster; nats: TestNats; store: LifecycleStore };

async function startReplica({ cluster, nats, store }: Around, more: Partial<LifecycleSettings>) {
  const registry = createRegistry("lifecycle", "test");
  const mesh = await nats.connect("lifecycle");
  const kube = connectKube({ kubeconfigFile: cluster.kubeconfig });
  const deps = {
    ...{ kube, mesh, namespace: "minecraft", settings: { ...defaults, ...more } },
    servers: { get: cluster.server },
    store: createServerStore(store),
  } as unknown as ServerDeps;
  const replica = randomBytes(6).toString("hex");
  const consoles = startConsole({ mesh, deps, database: store, registry, log, replica });
  await mesh.announce();
  return {
    registry,
    close: once(async () => {
      await consoles.close();
      await mesh.drain(200);
      await store.close();
      kube.close();
    }),
  };
}

async function startGateway(
  nats: TestNats,
  settings: Parameters<typeof createFace>[0]["settings"],
): Promise<Gateway> {
  const registry = createRegistry("gateway-external", "test");
  const mesh = await nats.connect("gateway-external");
  const server: FaceServer = createFace({
    face: "external",
    operations: operations.filter(({ subject }) => subject.startsWith("lifecycle.console.")),
    processOperations: [],
    mesh,
    sessions: createSessions(mesh, { cacheMs: 5_000, size: 10_000 }),
    settings: { adminHostname: adminHost, drainMs: 500, ...settings },
    registry,
    log,
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  const close = once(async () => {
    await server.close();
    await mesh.drain(200);
  });
  return { port, registry, close };
}

type Reader = {
  status: () => number;
  /** What came so far, event by event. */
  lines: string[];
  lastId: () => string | undefined;
  ended: Promise<void>;
  text: () => string;
  leave: () => void;
};

/** Reads a console as a browser does. */
export async function readConsole(
  gateway: Pick<Gateway, "port">,
  about: { name: string; cookie: string; lastId?: string },
): Promise<Reader> {
  const { name, cookie, lastId } = about;
  const request = httpRequest({
    ...{ host: "127.0.0.1", port: gateway.port, path: `/api/v1/servers/${name}/console`, agent: false },
    headers: { host: adminHost, cookie, ...(lastId && { "last-event-id": lastId }) },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject).end();
  });
  request.on("error", () => {});
  const lines: string[] = [];
  let rest = "";
  let text = "";
  let id: string | undefined;
  response.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-2_000);
    const events = (rest + chunk).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      id = /^id: (\d+)$/m.exec(event)?.[1] ?? id;
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) lines.push(data);
    }
  });
  response.on("error", () => {});
  const ended = new Promise<void>((resolve) => response.once("close", () => resolve()));
  const leave = () => void request.destroy();
  return { status: () => response.statusCode ?? 0, lines, lastId: () => id, ended, text: () => text, leave };
}
