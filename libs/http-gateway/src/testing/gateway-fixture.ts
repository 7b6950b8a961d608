// Faces in front of a real nats-server with a minimal owner.

import { hash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultCacheDirs, findNatsServer, startNats } from "@svc/local-stack";
import { connectMesh, type Mesh } from "@svc/mesh";
import { migrateStreams } from "@svc/mesh/migrate";
import { accounts, apiTokens, type Face, processOperations, type ServiceName } from "@svc/proto";
import { createLogger, createRegistry, type Registry } from "@svc/telemetry";
import { pino } from "pino";
import type { ServiceTokens } from "../access/service-tokens.ts";
import { createSessions } from "../access/sessions.ts";
import { createFace, type FaceServer } from "../face.ts";
import type { FaceSettings } from "../settings.ts";
import { keepers, testOperations, things, wardens } from "./contracts.ts";
import { keeperOperations } from "./keeper-contracts.ts";
import { tokenOperations } from "./token-contracts.ts";

const repo = fileURLToPath(new URL("../../../..", import.meta.url));

export type GatewayFixture = {
  owner: Mesh;
  identity: Mesh;
  gateway: Mesh;
  /** What identity says of a session hash; absent = unknown. */
  sessions: Map<string, accounts.SessionAnswer>;
  /** A session of a player's account; returns its cookie. */
  signIn: (userId: string) => string;
  /** What identity says of the hash of an API token; absent = unknown. */
  tokens: Map<string, apiTokens.TokenAnswer>;
  /** How often identity was asked. */
  asked: () => number;
  /** Answer of the sign-in budget. */
  budget: { allowed: boolean; addresses: string[] };
  startFace: (options?: FaceOverrides) => Promise<RunningFace>;
  /** Connects another process. */
  connect: (service: ServiceName) => Promise<Mesh>;
  close: () => Promise<void>;
};

type FaceOverrides = {
  face?: Face;
  settings?: Partial<FaceSettings>;
  tokens?: ServiceTokens;
  mesh?: Mesh;
};
export type RunningFace = {
  port: number;
  url: string;
  server: FaceServer;
  registry: Registry;
  /** Request log lines so far. */
  log: Record<string, unknown>[];
};

export async function startGatewayFixture(): Promise<GatewayFixture> {
  // biome-ignore lint/style/noProcessEnv: the environment names the server binary, as in the local stack
  const env = process.env;
  const dataDir = mkdtempSync(join(tmpdir(), "svc-face-"));
  const cacheDirs = defaultCacheDirs(env, repo);
  const nats = await startNats({
    binary: await findNatsServer({ env, cacheDirs, progress: () => {} }),
    dataDir,
  });
  await migrateStreams({ url: nats.url, user: "", password: "", more: [things, keepers, wardens] });
  const meshes: Mesh[] = [];
  const connect = async (service: ServiceName) => {
    const log = createLogger(service, "silent");
    const mesh = await connectMesh({ service, url: nats.url, user: "", password: "", log, version: "1" });
    meshes.push(mesh);
    return mesh;
  };
  const [owner, identity, gateway, internal] = await Promise.all([
    connect("lifecycle"),
    connect("identity"),
    connect("gateway-external"),
    connect("gateway-internal"),
  ]);
  const sessions = new Map<string, accounts.SessionAnswer>();
  const tokens = new Map<string, apiTokens.TokenAnswer>();
  const budget = { allowed: true, addresses: [] as string[] };
  let asked = 0;
  identity.serve(accounts.resolveSession, (_context, { hash }) => {
    asked++;
    return sessions.get(hash) ?? { state: "unknown" as const };
  });
  identity.serve(apiTokens.resolve, (_context, { hash }) => {
    asked++;
    return tokens.get(hash) ?? { state: "unknown" as const };
  });
  identity.serve(accounts.takeSignInBudget, (_context, { address }) => {
    budget.addresses.push(address);
    return { allowed: budget.allowed, retry_after_seconds: budget.allowed ? 0 : 7 };
  });
  const closers: (() => Promise<void>)[] = [];
  return {
    owner,
    identity,
    gateway,
    sessions,
    signIn: (userId) => {
      const cookie = randomBytes(32).toString("base64url");
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      const shared = { state: "live", role: "user", setup: false, host: "player" } as const;
      sessions.set(hash("sha256", cookie), { ...shared, user_id: userId, username: userId, expires_at });
      return cookie;
    },
    tokens,
    budget,
    asked: () => asked,
    connect,
    startFace: async (choice) => {
      // Flushes: what the owner serves is known to NATS before a test sends a request.
      await owner.announce();
      const own = choice?.face === "internal" ? internal : gateway;
      const face = await startFace(choice?.mesh ?? own, choice);
      closers.push(face.server.close);
      return face;
    },
    close: async () => {
      await Promise.all(closers.map((close) => close()));
      await Promise.all(meshes.map((mesh) => mesh.drain(500)));
      await nats.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function startFace(mesh: Mesh, choice: FaceOverrides = {}): Promise<RunningFace> {
  const log: Record<string, unknown>[] = [];
  const registry = createRegistry("test", "1");
  const cache = choice.settings?.sessionCacheMs ?? 5_000;
  const server = createFace({
    face: choice.face ?? "external",
    operations: [...testOperations, ...tokenOperations, ...keeperOperations],
    processOperations,
    mesh,
    sessions: createSessions(mesh, { cacheMs: cache, size: 100 }),
    ...(choice.tokens ? { tokens: choice.tokens } : {}),
    settings: { adminHostname: "op.console.test", drainMs: 500, ...choice.settings },
    registry,
    log: pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) }),
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  return { port, url: `http://127.0.0.1:${port}`, server, registry, log };
}
