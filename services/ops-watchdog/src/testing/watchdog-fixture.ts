// Whole runs of the watchdog with PostgreSQL, NATS, a mail sink and a receiver of webhooks and heartbeats.

import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
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
import { alertDeps } from "../watchdog/operate.ts";
import { allProbes } from "../watchdog/probe/all.ts";
import type { Probe } from "../watchdog/probe/probe.ts";
import type { RunDeps } from "../watchdog/run.ts";
import { createWatchdogDatabase } from "./fixture.ts";

const nothingWrong = { failed_jobs: [], stuck_jobs: [], reaper: {}, store_full: false };
const monthMs = 30 * 86_400_000;

type Received = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };
type Receiver = { url: string; received: Received[]; status: number; server: Server };

/** `away`: what of `nats`, `postgresql` and `smtp` cannot be reached. */
export type Options = {
  set?: readonly string[];
  probes?: readonly Probe[];
  env?: NodeJS.ProcessEnv;
  away?: "nats" | "postgresql" | "smtp";
};

export type WatchdogFixture = {
  smtp: SmtpSink;
  receiver: Receiver;
  clock: { now: number };
  /** Of this test. */
  dir: () => string;
  runDeps: (options?: Options) => RunDeps;
  /** Begins another test: an empty folder, a month later. */
  next: () => void;
  stop: () => Promise<void>;
};

export async function startWatchdogFixture(): Promise<WatchdogFixture> {
  const root = mkdtempSync(join(tmpdir(), "svc-watchdog-run-"));
  const [database, nats, smtp, receiver] = await Promise.all([
    createWatchdogDatabase(),
    startTestNats(),
    startSmtpSink(),
    startReceiver(),
  ]);
  const owners = await startOwners(nats);
  const clock = { now: Date.parse("2026-11-23T02:00:00Z") };
  let number = 0;
  const dir = () => join(root, String(number));
  return {
    ...{ smtp, receiver, clock, dir },
    runDeps: (options = {}) => runDepsOf({ database, nats, smtp, clock, dir: dir() }, options),
    next: () => {
      number += 1;
      mkdirSync(dir());
      smtp.mails.length = 0;
      smtp.refuseWith = undefined;
      receiver.received.length = 0;
      receiver.status = 204;
      clock.now += monthMs;
    },
    stop: async () => {
      await Promise.all(owners.map((mesh) => mesh.drain(500)));
      await Promise.all([nats.stop(), smtp.stop(), database.drop()]);
      receiver.server.closeAllConnections();
      receiver.server.close();
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

async function startOwners(nats: TestNats): Promise<Mesh[]> {
  const [storage, builds, identity] = await Promise.all([
    nats.connect("storage"),
    nats.connect("builds"),
    nats.connect("identity"),
  ]);
  storage.serve(storageHealth.readStorageHealth, () => nothingWrong);
  builds.serve(buildsHealth.readBuildsHealth, () => ({ failed: 0 }));
  identity.serve(identityHealth.readIdentityHealth, () => ({ mails_left: 5, mails_waiting: 0 }));
  identity.serve(notices.listStaffRecipients, () => ({
    recipients: [
      { address: "ada@example.org", language: "en" as const },
      { address: "li@example.org", language: "zh" as const },
    ],
  }));
  const owners = [storage, builds, identity];
  for (const mesh of owners) await mesh.announce();
  return owners;
}

type Place = { database: TestDatabase; nats: TestNats; smtp: SmtpSink; clock: { now: number }; dir: string };

function runDepsOf(
  { database, nats, smtp, clock, dir }: Place,
  { set = [], probes, env = {}, away }: Options,
): RunDeps {
  const overrides = [
    "server.root_domain=svc.example.org",
    ...["smtp.host=127.0.0.1", `smtp.port=${away === "smtp" ? 1 : smtp.port}`, "smtp.from=svc@example.org"],
    `ops_watchdog.state_dir=${join(dir, "state")}`,
    `ops_watchdog.state_copy_dir=${join(dir, "copy")}`,
    `ops_watchdog.bundle_dir=${join(dir, "bundles")}`,
    'ops_watchdog.expected_services=["storage","builds","identity"]',
    "ops_watchdog.channels_may_be_internal=true",
  ];
  const deps = alertDeps(loadSettings(schema, { overrides: [...overrides, ...set] }), env, () => clock.now);
  const url = away === "nats" ? "nats://127.0.0.1:1" : nats.url;
  return {
    ...deps,
    databaseUrl: away === "postgresql" ? "postgres://x:y@127.0.0.1:1/x" : database.url,
    natsUrl: url,
    kubeconfig: join(dir, "no-kubeconfig"),
    probes: probes ?? allProbes(deps.file),
    openMesh: () =>
      connectMesh({
        ...{ service: "ops-watchdog", url, user: "ops-watchdog", version: "0" },
        password: nats.passwords["ops-watchdog"] ?? "",
        log: createLogger("test", "silent"),
        signal: AbortSignal.timeout(away === "nats" ? 300 : 20_000),
      }),
  };
}
