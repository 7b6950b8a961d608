// The whole stack as `svc up` starts it, on a folder of its own, with an owner who is signed in. The anchors run beside
// it: their own nats-server (idle while we measure ours, and the other way round) and a database in the same PostgreSQL.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startNats } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { type Answer, newestCode, runSvc, type StackFile, send } from "../../flow/stack.ts";
import { type Anchors, natsServer, runSql, startAnchors } from "./anchors.ts";
import type { Bench } from "./bench.ts";

export type BenchStack = {
  dir: string;
  file: () => StackFile;
  pidOf: (process: string) => number;
  supervisorPid: () => number;
  /** Headers of the proxy and of the signed-in owner on the operator console. */
  proxy: { port: number; headers: Record<string, string> };
  owner: { port: number; headers: Record<string, string> };
  internal: (method: string, path: string, body?: unknown) => Promise<Answer>;
  external: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** Creates a sleeping server of the demo image unless it is there. */
  ensureServer: (name: string) => Promise<void>;
  anchors: () => Promise<Anchors & { databaseUrl: string; natsPid: number }>;
  /** Stops the stack and starts it again; answers how long the start took, from the command to its end. */
  restart: () => Promise<number>;
  stop: () => Promise<void>;
};

const settleMs = 200;

async function svc(dir: string, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await runSvc([...args, "--data", dir]);
  if (code !== 0)
    throw new Error(`svc ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}${logTails(dir)}`);
}

function logTails(dir: string): string {
  const logs = join(dir, "logs");
  if (!existsSync(logs)) return "";
  const tail = (name: string) => readFileSync(join(logs, name), "utf8").split("\n").slice(-4).join("\n");
  const files = readdirSync(logs).filter((name) => name.endsWith(".log"));
  return files.map((name) => `--- ${name}\n${tail(name)}`).join("\n");
}

// One account downloads more often than a person may, and submits packs one after the other.
const usual = [
  "storage.download_hourly=1000",
  "builds.submission_cooldown=0s",
  "builds.upload_cooldown=0s",
].flatMap((setting) => ["--set", setting]);

const start = (dir: string, args: readonly string[]) =>
  svc(dir, "up", "--detach", "--ports", "auto", ...args);

/** Signs the first owner in by the setup link and verifies the e-mail; answers the session cookie. */
async function signIn(file: () => StackFile): Promise<string> {
  let cookie = "";
  const post = async (path: string, body: unknown) => {
    const headers = { ...ownerHeaders(file()), ...(cookie && { cookie }) };
    const answer = await send(new URL(path, file().external_base_url).href, {
      method: "POST",
      headers,
      body,
    });
    if (answer.status >= 300)
      throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    const [set] = answer.headers["set-cookie"] ?? [];
    if (set) cookie = set.split(";")[0] ?? "";
  };
  const token = new URL(file().setup_url).searchParams.get("token");
  await post("/api/v1/auth/setup/redeem", { token });
  await post("/api/v1/account/email/start", { email: "owner@example.net" });
  await post("/api/v1/account/email/verify", {
    code: await until(() => newestCode(file().mail.dir), 10_000, "the mailed code"),
  });
  return cookie;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function ownerHeaders(file: StackFile): Record<string, string> {
  const host = file.admin_host;
  return { host: host.includes(":") ? host : `${host}:${portOf(file.external_base_url)}` };
}

/**
 * Starts a stack on a fresh folder; its supervisor counts as ours when outsiders are looked for. `args` go to `svc up`
 * instead of the bench's own.
 */
export async function startStackArena(
  bench: Pick<Bench, "detached">,
  args: readonly string[] = usual,
): Promise<BenchStack> {
  const dir = await mkdtemp(join(tmpdir(), "svc-bench-stack-"));
  const ending: (() => Promise<void>)[] = [() => rm(dir, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of ending.splice(0).reverse()) await step();
  };
  try {
    ending.push(() => svc(dir, "down"));
    await start(dir, args);
    return await assemble(bench, { dir, args, ending, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

type Place = {
  dir: string;
  args: readonly string[];
  ending: (() => Promise<void>)[];
  stop: () => Promise<void>;
};

async function assemble(
  bench: Pick<Bench, "detached">,
  { dir, args, ending, stop }: Place,
): Promise<BenchStack> {
  const file = () => JSON.parse(readFileSync(join(dir, "stack.json"), "utf8")) as StackFile;
  const supervisorPid = () => {
    const found: unknown = JSON.parse(readFileSync(join(dir, "supervisor.json"), "utf8"));
    return Number((found as { pid: number }).pid);
  };
  const noteSupervisor = () => {
    bench.detached.clear();
    bench.detached.add(supervisorPid());
  };
  noteSupervisor();
  const cookie = await signIn(file);
  const proxyHeaders = () => ({ authorization: `Bearer ${file().tokens.velocity}` });
  const external: BenchStack["external"] = (method, path, body) => {
    const headers = { ...ownerHeaders(file()), cookie };
    return send(new URL(path, file().external_base_url).href, { method, headers, body });
  };
  let anchors: ReturnType<BenchStack["anchors"]> | undefined;
  return {
    dir,
    file,
    supervisorPid,
    pidOf: (name) => {
      const found = file().processes.find((process) => process.name === name);
      if (!found) throw new Error(`the stack has no process ${name}`);
      return found.pid;
    },
    get proxy() {
      return { port: portOf(file().internal_base_url), headers: proxyHeaders() };
    },
    get owner() {
      return { port: portOf(file().external_base_url), headers: { ...ownerHeaders(file()), cookie } };
    },
    internal: (method, path, body) =>
      send(new URL(path, file().internal_base_url).href, { method, headers: proxyHeaders(), body }),
    external,
    ensureServer: (name) => ensureServer(external, name),
    anchors: () => (anchors ??= startStackAnchors({ dir, databaseUrl: file().database_url }, ending)),
    restart: async () => {
      await svc(dir, "down");
      await delay(settleMs);
      const startedAt = performance.now();
      await start(dir, args);
      const tookMs = performance.now() - startedAt;
      noteSupervisor();
      return tookMs;
    },
    stop,
  };
}

async function ensureServer(external: BenchStack["external"], name: string): Promise<void> {
  // No idle stop: the server must not fall asleep while it is looked at.
  const wanted = { name, subdomain: name, autostartPolicy: "public", idleStopSeconds: 0 };
  const { status, body } = await external("POST", "/api/v1/servers", wanted);
  if (status !== 201 && status !== 409)
    throw new Error(`creating ${name} answered ${status}: ${JSON.stringify(body)}`);
}

async function startStackAnchors(
  { dir, databaseUrl }: { dir: string; databaseUrl: string },
  ending: (() => Promise<void>)[],
): Promise<Anchors & { databaseUrl: string; natsPid: number }> {
  const account = { user: "anchor", password: "anchor" };
  const nats = await startNats({
    binary: await natsServer(),
    dataDir: join(dir, "anchor-nats"),
    port: 0,
    extraConfig: `authorization { user: "${account.user}", password: "${account.password}" }`,
  });
  ending.push(nats.stop);
  await runSql(databaseUrl, "create database anchor");
  const url = new URL(databaseUrl);
  url.pathname = "/anchor";
  const place = { natsUrl: nats.url, ...account, databaseUrl: url.href, logDir: join(dir, "logs") };
  const anchors = await startAnchors(place, ending);
  return { ...anchors, databaseUrl: url.href, natsPid: nats.pid };
}
