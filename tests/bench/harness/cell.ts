// One cell: PostgreSQL, NATS, both real gateways, stand-ins for their owners, and the bare building blocks beside them.
// Everything shares the same servers, so a comparison sees the same disk, the same kernel and the same settings.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { defaultCacheDirs, findNatsServer, startNats, startPostgres } from "@svc/local-stack";
import { natsAuthorization, natsUsers } from "@svc/proto";
import { outboxSql } from "@svc/store";
import pg from "pg";
import { type Child, startChild } from "./child.ts";
import { until } from "./until.ts";

export const root = resolve(import.meta.dirname, "../../..");

export type Service = { name: string; pid: number; port: number; stop: () => Promise<void> };

export type Cell = {
  dir: string;
  databaseUrl: string;
  natsPid: number;
  postgresPid: number;
  internal: Service;
  external: Service;
  /** `Authorization` of the proxy. */
  authorization: string;
  /** `Cookie` of a session that the stand-in of identity calls live. */
  cookie: string;
  lifecycle: Child;
  identity: Child;
  listener: () => Promise<Child>;
  /** Bare Fastify with P1, P2, P3 and `/list`, and its responder. */
  bareGateway: Child & { port: number };
  bareResponder: Child;
  bareLists: () => Promise<Child & { port: number; tag: string }>;
  barePublisher: () => Promise<Child>;
  stop: () => Promise<void>;
};

const anchorUser = "anchor";

// The shipped users and permissions, one user without limits for the anchors, and for the operator what a durable
// consumer of another service may do.
function authorization(passwords: Record<string, string>, anchorPassword: string): string {
  const text = natsAuthorization(passwords);
  const end = text.lastIndexOf("\n  ]\n}");
  if (end < 0) throw new Error("the NATS authorization block has another shape than the bench expects");
  return `${text.slice(0, end)},\n    { user: "${anchorUser}", password: "${anchorPassword}" }${text.slice(end)}`;
}

const anchorSchema = `
create schema if not exists identity;
set search_path to identity;
${outboxSql}
set search_path to public;
create table servers (name text primary key, info jsonb not null);`;

async function prepareDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(anchorSchema);
  await client.end();
}

/** Starts the main file of a service with its log in a file, and waits until it says `ready`. */
export async function startService(options: {
  name: string;
  logDir: string;
  env: NodeJS.ProcessEnv;
  timeoutMs?: number;
}): Promise<Service> {
  const { name, logDir, env } = options;
  const path = join(logDir, `${name}-${randomBytes(3).toString("hex")}.log`);
  const log = openSync(path, "a");
  const main = join(root, "services", name, "src", "main.ts");
  const child = spawn(process.execPath, [main], { cwd: root, env, stdio: ["ignore", log, log] });
  closeSync(log);
  const lines = () => readFileSync(path, "utf8");
  try {
    await until(`${name} to be ready`, options.timeoutMs ?? 30_000, () => {
      if (child.exitCode !== null)
        throw new Error(`${name} ended with ${child.exitCode}: ${lines().slice(-2_000)}`);
      return lines().includes('"msg":"ready"');
    });
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  const port = Number(/"port":(\d+)[^\n]*face listens/.exec(lines())?.[1] ?? 0);
  return { name, pid: child.pid ?? 0, port, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((settle) => child.once("exit", settle));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 25_000);
  await exited;
  clearTimeout(timer);
}

/** Starts a cell; `stop` ends everything and removes its data. */
export async function startCell(): Promise<Cell> {
  const ending: (() => Promise<void>)[] = [];
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const stop = async () => {
    for (const step of ending.splice(0).reverse()) await step();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    return { ...(await assemble(dir, ending)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(dir: string, ending: (() => Promise<void>)[]): Promise<Omit<Cell, "stop">> {
  const logDir = join(dir, "logs");
  mkdirSync(logDir);
  const secret = () => randomBytes(16).toString("hex");
  const passwords = Object.fromEntries(natsUsers.map((user) => [user, secret()]));
  const anchorPassword = secret();
  const binary = await findNatsServer({
    env: process.env,
    cacheDirs: defaultCacheDirs(process.env, root),
    progress: (text) => console.error(text),
  });
  const nats = await startNats({
    binary,
    dataDir: join(dir, "nats"),
    port: 0,
    extraConfig: authorization(passwords, anchorPassword),
  });
  ending.push(nats.stop);
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), port: 0, password: secret() });
  ending.push(postgres.stop);
  await prepareDatabase(postgres.url);

  const child = async (file: string, env: NodeJS.ProcessEnv) => {
    const started = await startChild(file, { env, logDir });
    ending.push(started.stop);
    return started;
  };
  const ours = (user: string) => ({
    SVC_NATS_URL: nats.url,
    SVC_NATS_USER: user,
    SVC_NATS_PASSWORD: passwords[user] ?? "",
    SVC_DATABASE_URL: postgres.url,
  });
  const bare = {
    ANCHOR_NATS_URL: nats.url,
    ANCHOR_NATS_USER: anchorUser,
    ANCHOR_NATS_PASSWORD: anchorPassword,
    ANCHOR_DATABASE_URL: postgres.url,
  };
  const token = secret();
  const gateway = async (name: string) => {
    const env = { ...process.env, ...ours(name), SVC_LISTEN: "127.0.0.1:0", SVC_SERVICE_TOKEN: token };
    const started = await startService({ name, logDir, env });
    ending.push(started.stop);
    return started;
  };
  const lifecycle = await child("ours/lifecycle.ts", ours("lifecycle"));
  const identity = await child("ours/identity.ts", ours("identity"));
  await lifecycle.ask("fill", 0);
  const internal = await gateway("gateway-internal");
  const external = await gateway("gateway-external");
  const bareResponder = await child("anchors/responder.ts", bare);
  await bareResponder.ask("seed", 10_000);
  const bareGateway = await child("anchors/gateway.ts", bare);
  return {
    dir,
    databaseUrl: postgres.url,
    natsPid: nats.pid,
    postgresPid: postgres.pid,
    internal,
    external,
    authorization: `Bearer ${token}`,
    cookie: `svc_session=${"b".repeat(43)}`,
    lifecycle,
    identity,
    listener: () => child("ours/listener.ts", ours("operator")),
    bareGateway: { ...bareGateway, port: await bareGateway.ask<number>("port") },
    bareResponder,
    bareLists: async () => {
      const lists = await child("anchors/lists.ts", {});
      return { ...lists, port: await lists.ask<number>("port"), tag: await lists.ask<string>("tag") };
    },
    barePublisher: () => child("anchors/publisher.ts", bare),
  };
}
