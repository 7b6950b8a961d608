// Whole runs of the watchdog with PostgreSQL, NATS, a mail sink and a receiver of webhooks and heartbeats.

import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSettings } from "@svc/config";
import { connectMesh, type Mesh } from "@svc/mesh";
import { startTestNats, type TestNats } from "@svc/mesh/testing";
import { buildsHealth, identityHealth, notices, storageHealth } from "@svc/proto";
import { type SmtpSink, startSmtpSink } from "@svc/smtp/testing";
import type { TestDatabase } from "@svc/store/testing";
import { createLogger } from "@svc/telemetry";
import { settings as schema } from "../config.ts";
import { finding } from "../watchdog/finding.ts";
import { alertDeps } from "../watchdog/operate.ts";
import { allProbes } from "../watchdog/probe/all.ts";
import type { Probe } from "../watchdog/probe/probe.ts";
import type { RunDeps } from "../watchdog/run.ts";
import { createWatchdogDatabase } from "./fixture.ts";

const nothingWrong = { failed_jobs: [], stuck_jobs: [], reaper: {}, store_full: false };
const monthMs = 30 * 86_400_000;

type Received = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };
type Receiver = { url: string; received: Received[]; status: number; server: Server };

/** `away`: what cannot be reached; `silent`: what accepts connections and never answers. */
export type Options = {
  set?: readonly string[];
  probes?: readonly Probe[];
  env?: NodeJS.ProcessEnv;
  away?: "nats" | "postgresql" | "smtp";
  silent?: "nats" | "postgresql" | "smtp" | "cluster";
  /** Folder of a run beside others of the same test. */
  beside?: string;
};

export type WatchdogFixture = {
  smtp: SmtpSink;
  receiver: Receiver;
  clock: { now: number };
  /** Whether identity leaves requests unanswered. */
  identity: { isSilent: boolean };
  database: TestDatabase;
  /** Of this test. */
  dir: () => string;
  runDeps: (options?: Options) => RunDeps;
  /** Begins another test: an empty folder, a month later. */
  next: () => void;
  stop: () => Promise<void>;
};

export async function startWatchdogFixture(): Promise<WatchdogFixture> {
  const root = mkdtempSync(join(tmpdir(), "svc-watchdog-run-"));
  const [database, nats, smtp, receiver, blackHole] = await Promise.all([
    createWatchdogDatabase(),
    startTestNats(),
    startSmtpSink(),
    startReceiver(),
    startBlackHole(),
  ]);
  const identity = { isSilent: false };
  const owners = await startOwners(nats, identity);
  const clock = { now: Date.parse("2026-11-23T02:00:00Z") };
  let number = 0;
  const dir = () => join(root, String(number));
  return {
    ...{ smtp, receiver, clock, dir, identity, database },
    runDeps: (options = {}) =>
      runDepsOf({ database, nats, smtp, blackHole, clock, dir: join(dir(), options.beside ?? "") }, options),
    next: () => {
      number += 1;
      mkdirSync(dir());
      smtp.mails.length = 0;
      smtp.refuseWith = undefined;
      identity.isSilent = false;
      receiver.received.length = 0;
      receiver.status = 204;
      clock.now += monthMs;
    },
    stop: async () => {
      await Promise.all(owners.map((mesh) => mesh.drain(500)));
      await Promise.all([nats.stop(), smtp.stop(), database.drop()]);
      receiver.server.closeAllConnections();
      receiver.server.close();
      blackHole.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function startReceiver(): Promise<Receiver> {
  const receiver: Receiver = { url: "", received: [], status: 204, server: createServer() };
  receiver.server.on("request", (request: IncomingMessage, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      receiver.received.push({ method, url, headers, body });
      response.writeHead(receiver.status).end();
    });
  });
  await once(receiver.server.listen(0, "127.0.0.1"), "listening");
  receiver.url = `http://127.0.0.1:${(receiver.server.address() as AddressInfo).port}`;
  return receiver;
}

type BlackHole = { port: number; close: () => void };

/** Accepts every connection and says nothing. */
async function startBlackHole(): Promise<BlackHole> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => undefined).resume());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

async function startOwners(nats: TestNats, silence: { isSilent: boolean }): Promise<Mesh[]> {
  const [storage, builds, identity] = await Promise.all([
    nats.connect("storage"),
    nats.connect("builds"),
    nats.connect("identity"),
  ]);
  storage.serve(storageHealth.readStorageHealth, () => nothingWrong);
  builds.serve(buildsHealth.readBuildsHealth, () => ({ failed: 0 }));
  const answer = <T>(value: T): T | Promise<T> =>
    silence.isSilent ? new Promise<T>(() => undefined) : value;
  identity.serve(identityHealth.readIdentityHealth, () => answer({ mails_left: 5, mails_waiting: 0 }));
  identity.serve(notices.listStaffRecipients, () =>
    answer({
      recipients: [
        { address: "ada@example.org", language: "en" as const },
        { address: "li@example.org", language: "zh" as const },
      ],
    }),
  );
  const owners = [storage, builds, identity];
  for (const mesh of owners) await mesh.announce();
  return owners;
}

type Place = {
  database: TestDatabase;
  nats: TestNats;
  smtp: SmtpSink;
  blackHole: BlackHole;
  clock: { now: number };
  dir: string;
};

function runDepsOf(
  { database, nats, smtp, blackHole, clock, dir }: Place,
  { set = [], probes, env = {}, away, silent }: Options,
): RunDeps {
  const portOf = (what: Options["away"], port: number) =>
    away === what ? 1 : silent === what ? blackHole.port : port;
  const overrides = [
    "server.root_domain=svc.example.org",
    ...["smtp.host=127.0.0.1", `smtp.port=${portOf("smtp", smtp.port)}`, "smtp.from=svc@example.org"],
    `ops_watchdog.state_dir=${join(dir, "state")}`,
    `ops_watchdog.state_copy_dir=${join(dir, "copy")}`,
    `ops_watchdog.bundle_dir=${join(dir, "bundles")}`,
    'ops_watchdog.expected_services=["storage","builds","identity"]',
    "ops_watchdog.channels_may_be_internal=true",
  ];
  const deps = alertDeps(loadSettings(schema, { overrides: [...overrides, ...set] }), env, () => clock.now);
  const url = withPort(nats.url, (port) => portOf("nats", port));
  return {
    ...deps,
    databaseUrl: withPort(database.url, (port) => portOf("postgresql", port)),
    natsUrl: url,
    kubeconfig: silent === "cluster" ? writeKubeconfig(dir, blackHole.port) : join(dir, "no-kubeconfig"),
    probes: probes ?? allProbes(deps.file),
    openMesh: () =>
      connectMesh({
        ...{ service: "ops-watchdog", url, user: "ops-watchdog", version: "0" },
        password: nats.passwords["ops-watchdog"] ?? "",
        log: createLogger("test", "silent"),
        signal: AbortSignal.timeout(away === "nats" || silent === "nats" ? 300 : 20_000),
      }),
  };
}

function withPort(address: string, to: (port: number) => number): string {
  const url = new URL(address);
  url.port = String(to(Number(url.port)));
  return url.href;
}

function writeKubeconfig(dir: string, port: number): string {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, "kubeconfig");
  const name = "test";
  const cluster = { server: `http://127.0.0.1:${port}` };
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": name },
    clusters: [{ name, cluster }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: {} }],
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** A probe that finds one thing wrong. */
export const seeing = (key: string, severity: "critical" | "warning" = "warning"): Probe => ({
  prefixes: ["x"],
  look: async () => ({
    findings: [
      finding(
        { key, severity, hint: { en: "Mend it.", zh: "请修复。" } },
        { en: `${key} is wrong.`, zh: "有问题。" },
      ),
    ],
  }),
});

export const seeingNothing: Probe = { prefixes: ["x"], look: async () => ({ findings: [] }) };
