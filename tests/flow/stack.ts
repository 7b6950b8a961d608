// A whole stack for a test: started the way a newcomer does, driven over HTTP, ended with everything it made.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join, resolve } from "node:path";
import { runSvc as commandOfSvc } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { unexpectedErrors } from "./logged-errors.ts";
import { makeDataDir, type StackUser } from "./unprivileged.ts";

const root = resolve(import.meta.dirname, "../..");

export type StackFile = {
  internal_base_url: string;
  external_base_url: string;
  root_domain: string;
  panel_host: string;
  admin_host: string;
  setup_url: string;
  tokens: Record<"velocity" | "limbo" | "build" | "ops" | "sftp", string>;
  nats_url: string;
  database_url: string;
  kubeconfig: string;
  mail: { smtp_url: string; dir: string; page: string };
  game: { host: string; port: number };
  sftp?: { host: string; port: number };
  registry?: { host: string; credentials_file: string };
  processes: { name: string; pid: number; log: string; metrics?: string }[];
};

export type Answer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
};

export type Stack = {
  /** Root of the session server that knows the players; absent where the proxy believes their names. */
  sessionServer?: string;
  dataDir: string;
  /** As it is on disk now: pids change when a process is started again. */
  file: () => StackFile;
  internal: (method: string, path: string, body?: unknown) => Promise<Answer>;
  external: (method: string, path: string, body?: unknown, more?: Record<string, string>) => Promise<Answer>;
  /** The session of `external`. */
  cookie: () => string;
  /** Signs the owner in by the setup link and verifies the e-mail with the mailed code. */
  becomeOwner: () => Promise<void>;
  svc: (...args: string[]) => Promise<{ code: number; stdout: string; stderr: string }>;
  /** The same with the mailed code, and signs the command line in. */
  setUp: () => Promise<void>;
  /** Kills a process and returns its former pid; the stack starts it again. */
  kill: (name: string) => number;
  /** Lets the services log errors that match one of these; any other fails `stop`. */
  expectErrors: (...patterns: RegExp[]) => void;
  /** Ends it and removes its data. Throws when a service logged an error that the test did not expect. */
  stop: () => Promise<void>;
};

/**
 * Runs `svc`, bundled once a stack has bundled the programs, and collects what it says; `typed` is what the person enters, once it is known, and
 * `env` what the environment holds besides.
 */
export function runSvc(
  args: readonly string[],
  typed?: Promise<string>,
  env: NodeJS.ProcessEnv = {},
  user?: StackUser,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const svc = commandOfSvc(root, join(root, "services/cli/src/main.ts"));
  const child = spawn(process.execPath, [...svc.args, ...args], {
    cwd: root,
    env: { ...process.env, ...svc.env, ...user?.env, ...env },
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  void typed?.then((line) => child.stdin.end(line && `${line}\n`)).catch(() => child.kill());
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise((settle) => child.on("close", (code) => settle({ code: code ?? 1, stdout, stderr })));
}

export function send(
  url: string,
  options: { method: string; headers: Record<string, string>; body?: unknown },
): Promise<Answer> {
  const { body } = options;
  const json = { "content-type": "application/json" };
  const isRaw = Buffer.isBuffer(body);
  const payload = isRaw || body === undefined ? body : Buffer.from(JSON.stringify(body));
  const headers = payload
    ? { ...(isRaw ? {} : json), ...options.headers, "content-length": String(payload.length) }
    : options.headers;
  return new Promise((settle, fail) => {
    const request = httpRequest(url, { method: options.method, headers, timeout: 30_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const body: unknown = text === "" ? undefined : JSON.parse(text);
        settle({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    request.on("timeout", () => request.destroy(new Error(`${options.method} ${url} took over 30 s`)));
    request.on("error", fail);
    request.end(payload);
  });
}

function readStackFile(dataDir: string): StackFile {
  return JSON.parse(readFileSync(join(dataDir, "stack.json"), "utf8")) as StackFile;
}

/** Only the seven services: game servers then accept players who do not come through the proxy. */
export const withoutGame: readonly string[] = [
  "--only",
  "identity,lifecycle,storage,builds,ops-watchdog,gateway-internal,gateway-external",
];

/** No scheduled backup takes a world between two steps of a test, however long it lasts. */
export const noScheduledBackup = "storage.auto_backup_interval=1h";

/** Starts a stack on free ports; `args` go to `svc up` besides. It runs as `user`, unless as whoever runs the tests. */
export async function startStack(
  args: readonly string[] = [],
  dataDir?: string,
  { user, env = {} }: { user?: StackUser; env?: NodeJS.ProcessEnv } = {},
): Promise<Stack> {
  const dir = dataDir ?? makeDataDir(user);
  const words = ["up", "--detach", "--ports", "auto", "--data", dir, "--set", noScheduledBackup, ...args];
  const up = await runSvc(words, undefined, env, user);
  if (up.code !== 0)
    throw new Error(`svc up ended with ${up.code}:\n${up.stdout}${up.stderr}${logTails(dir)}`);
  return stackAt(dir, user);
}

/** The stack that runs on a folder, whoever started it; commands are run as `user`. */
export function stackAt(dir: string, user?: StackUser): Stack {
  const svc = (words: readonly string[], typed?: Promise<string>) => runSvc(words, typed, {}, user);
  const file = () => readStackFile(dir);
  let cookie = "";
  const expected: RegExp[] = [];
  const external: Stack["external"] = async (method, path, body, more = {}) => {
    const { external_base_url, admin_host } = file();
    const headers = { host: hostOf(external_base_url, admin_host), ...(cookie ? { cookie } : {}), ...more };
    const answer = await send(new URL(path, external_base_url).href, { method, headers, body });
    const [set] = answer.headers["set-cookie"] ?? [];
    if (set) cookie = set.split(";")[0] ?? "";
    return answer;
  };
  return {
    dataDir: dir,
    file,
    external,
    cookie: () => cookie,
    internal: (method, path, body) => {
      const { internal_base_url, tokens } = file();
      const headers = { authorization: `Bearer ${tokens.velocity}` };
      return send(new URL(path, internal_base_url).href, { method, headers, body });
    },
    becomeOwner: () => becomeOwner(file, external),
    svc: (...more) => svc([...more, "--data", dir]),
    setUp: async () => {
      const code = until(() => newestCode(join(dir, "mail")), 15_000, "the mailed code");
      const done = await svc(["account", "setup", "--email", "you@example.net", "--data", dir], code);
      if (done.code !== 0) throw new Error(`svc account setup: ${done.stderr}`);
    },
    kill: (name) => {
      const found = file().processes.find((process) => process.name === name);
      if (!found) throw new Error(`${name} does not run`);
      process.kill(found.pid, "SIGKILL");
      return found.pid;
    },
    expectErrors: (...patterns) => void expected.push(...patterns),
    stop: async () => {
      await svc(["down", "--data", dir]);
      const errors = unexpectedErrors(dir, expected);
      rmSync(dir, { recursive: true, force: true });
      if (errors.length > 0)
        throw new Error(`the services logged ${errors.length} errors:\n${errors.slice(0, 20).join("\n")}`);
    },
  };
}

function hostOf(baseUrl: string, host: string): string {
  const { port } = new URL(baseUrl);
  return host.includes(":") ? host : `${host}:${port}`;
}

async function becomeOwner(file: Stack["file"], external: Stack["external"]): Promise<void> {
  const token = new URL(file().setup_url).searchParams.get("token");
  const redeemed = await external("POST", "/api/v1/auth/setup/redeem", { token });
  if (redeemed.status !== 200) throw new Error(`setup/redeem: ${JSON.stringify(redeemed.body)}`);
  const started = await external("POST", "/api/v1/account/email/start", { email: "owner@example.net" });
  if (started.status !== 202) throw new Error(`email/start: ${JSON.stringify(started.body)}`);
  const code = await until(() => newestCode(file().mail.dir), 10_000, "the mailed code");
  const verified = await external("POST", "/api/v1/account/email/verify", { code });
  if (verified.status !== 200) throw new Error(`email/verify: ${JSON.stringify(verified.body)}`);
}

/** Six digits out of the newest mail of the sink. */
export function newestCode(dir: string): string | undefined {
  if (!existsSync(dir)) return undefined;
  const [newest] = readdirSync(dir)
    .filter((name) => name.endsWith(".eml"))
    .sort()
    .reverse();
  if (!newest) return undefined;
  return /\b(\d{6})\b/.exec(
    readFileSync(join(dir, newest), "utf8")
      .split(/\r?\n\r?\n/)
      .slice(1)
      .join("\n"),
  )?.[1];
}

function logTails(dir: string): string {
  const logs = join(dir, "logs");
  if (!existsSync(logs)) return "";
  return readdirSync(logs)
    .map(
      (name) => `\n--- ${name}\n${readFileSync(join(logs, name), "utf8").split("\n").slice(-15).join("\n")}`,
    )
    .join("");
}
