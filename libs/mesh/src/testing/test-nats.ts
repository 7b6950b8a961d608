// A real nats-server for tests, with all users of the mesh and the shipped permissions.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { defaultCacheDirs, findFreePort, findNatsServer } from "@svc/local-stack";
import { patience } from "@svc/local-stack/testing";
import { type Bucket, migrateUser, natsAuthorization, natsUsers, type ServiceName } from "@svc/proto";
import { createLogger } from "@svc/telemetry";
import type { Mesh, MeshOptions } from "../api.ts";
import { connectMesh } from "../connect.ts";
import { failOnUndeclaredFaults } from "../request/undeclared-fault.ts";
import { migrateStreams } from "../stream/migrate.ts";

const repo = fileURLToPath(new URL("../../../..", import.meta.url));
const readyWithinMs = 15_000;

export type TestNats = {
  url: string;
  /** By user: the services, `operator` and `migrate`, which may do anything with streams. */
  passwords: Readonly<Record<string, string>>;
  configFile: string;
  /** Ends it with SIGTERM and removes its data. */
  stop: () => Promise<void>;
  /** Ends it with SIGKILL; its data is kept, and `start` restarts it on the same port. */
  kill: () => Promise<void>;
  start: () => Promise<void>;
  /** Hangs it: it keeps its connections and answers nothing until the returned function is called. */
  pause: () => () => void;
  /** What `svc migrate up` does; it has run once. */
  migrate: () => Promise<string[]>;
  /** Connects as a service, quietly; `stop` does not close it. */
  connect: (service: ServiceName | "operator", options?: Partial<MeshOptions>) => Promise<Mesh>;
};

type TestNatsOptions = {
  /** False for a server without JetStream; default true. */
  jetStream?: boolean;
  /** Buckets that the catalog does not have; their owners may use them. */
  buckets?: readonly Bucket[];
};

/** Starts nats-server with JetStream on a free port of 127.0.0.1; its log is `nats.log` beside the configuration. */
export async function startTestNats(options: TestNatsOptions = {}): Promise<TestNats> {
  failOnUndeclaredFaults();
  // biome-ignore lint/style/noProcessEnv: the environment names the server binary, as in the local stack
  const env = process.env;
  const binary = await findNatsServer({ env, cacheDirs: defaultCacheDirs(env, repo), progress: () => {} });
  const dir = mkdtempSync(join(tmpdir(), "svc-nats-"));
  const port = await findFreePort();
  const passwords = Object.fromEntries(natsUsers.map((user) => [user, randomBytes(16).toString("hex")]));
  const configFile = join(dir, "nats.conf");
  writeFileSync(configFile, configText({ dir, port, passwords, ...options }), { mode: 0o600 });
  const url = `nats://127.0.0.1:${port}`;

  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(binary, ["-c", configFile], { stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(join(dir, "nats.log"), { flags: "a" });
    child.stderr?.pipe(log);
    await untilReady(child, port);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  // A test process that exits must not leave a server behind.
  const onExit = () => child?.kill("SIGKILL");
  process.once("exit", onExit);
  const migrate = () =>
    migrateStreams({
      ...{ url, user: migrateUser, password: passwords[migrateUser] ?? "" },
      ...(options.buckets && { more: options.buckets }),
    });
  const stop = async () => {
    process.removeListener("exit", onExit);
    await end("SIGTERM");
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await start();
    if (options.jetStream ?? true) await migrate();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    migrate,
    url,
    passwords,
    configFile,
    start,
    kill: () => end("SIGKILL"),
    pause: () => {
      const paused = child;
      paused?.kill("SIGSTOP");
      return () => void paused?.kill("SIGCONT");
    },
    stop,
    connect: (service, options = {}) =>
      connectMesh({
        service,
        url,
        user: service,
        password: passwords[service] ?? "",
        log: createLogger(service, "silent"),
        version: "0.0.1",
        checksEncoded: true,
        ...options,
      }),
  };
}

type ConfigFacts = TestNatsOptions & { dir: string; port: number; passwords: Record<string, string> };

function configText(options: ConfigFacts): string {
  const storeDir = JSON.stringify(join(options.dir, "jetstream"));
  return [
    `listen: "127.0.0.1:${options.port}"`,
    'server_name: "svc-test"',
    (options.jetStream ?? true) ? `jetstream { store_dir: ${storeDir}, max_file_store: 10GB }` : "",
    natsAuthorization(options.passwords, options.buckets),
  ].join("\n");
}

async function untilReady(child: ChildProcess, port: number): Promise<void> {
  const endAt = Date.now() + readyWithinMs * patience;
  while (Date.now() < endAt) {
    if (child.exitCode !== null) throw new Error(`nats-server ended with code ${child.exitCode}`);
    if (await greets(port)) return;
    await delay(20);
  }
  throw new Error("nats-server was not ready in time");
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const end = (isServing: boolean) => {
      socket.destroy();
      resolve(isServing);
    };
    socket.once("error", () => end(false));
    socket.once("data", () => end(true));
    socket.setTimeout(1_000, () => end(false));
  });
}
