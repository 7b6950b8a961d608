// The gate in front of a real docker-registry.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { createLogger, createRegistry } from "@svc/telemetry";
import { request } from "undici";
import { loadConfig } from "../config.ts";
import { startGate } from "../service.ts";

export const passwords = { platform: "p".repeat(24), build: "b".repeat(24), prune: "d".repeat(24) };
type Name = keyof typeof passwords;

const manifestType = "application/vnd.oci.image.manifest.v1+json";

type Answer = { status: number; headers: Record<string, unknown>; text: string };
type Call = {
  as?: Name | string;
  headers?: Record<string, string>;
  body?: string | Buffer | AsyncIterable<Buffer>;
};

export type Fixture = Awaited<ReturnType<typeof startFixture>>;

/** `restart` starts the gate anew on the same files; `stopUpstream` and `startUpstream` end and begin the registry. */
export async function startFixture(binary: string, variables: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), "svc-gate-"));
  const upstreamPort = await findFreePort();
  const configFile = join(dir, "config.yml");
  mkdirSync(join(dir, "data"));
  writeFileSync(configFile, registryConfig(join(dir, "data"), upstreamPort));
  const credentials = join(dir, "credentials");
  const lines = Object.entries(passwords).map(([name, password]) => `${name}:${password}\n`);
  writeFileSync(credentials, lines.join(""));
  let upstream = await startUpstream(binary, configFile, upstreamPort);
  const environment = {
    SVC_REGISTRY_GATE_PORT: "0",
    SVC_REGISTRY_GATE_LEASE_PORT: "0",
    SVC_REGISTRY_GATE_UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
    SVC_REGISTRY_GATE_CREDENTIALS_FILE: credentials,
    SVC_REGISTRY_GATE_STATE_DIR: join(dir, "state"),
    SVC_REGISTRY_GATE_QUIET_SECONDS: "0",
    SVC_REGISTRY_GATE_PROGRAM: binary,
    SVC_REGISTRY_GATE_PROGRAM_CONFIG: configFile,
    ...variables,
  };
  const open = () => {
    const log = createLogger("registry-gate", "silent");
    return startGate({
      config: loadConfig(environment),
      log,
      registry: createRegistry("registry-gate", "0"),
    });
  };
  let gate = await open();
  const call = (method: string, path: string, options: Call = {}) =>
    send(new URL(path, `http://127.0.0.1:${gate.port}`).href, method, options);
  return {
    dir,
    credentials,
    data: join(dir, "data"),
    upstreamPort,
    config: () => loadConfig({ ...environment, SVC_REGISTRY_GATE_LEASE_PORT: String(gate.leasePort) }),
    host: () => `127.0.0.1:${gate.port}`,
    call,
    lease: (method: string, path = "/gate/lease", as: Name | undefined = "prune") =>
      send(`http://127.0.0.1:${gate.leasePort}${path}`, method, as ? { as } : {}),
    push: (repository: string, tag: string, as: Name = "platform") => push(call, { repository, tag, as }),
    restart: async () => {
      await gate.close();
      gate = await open();
    },
    stopUpstream: () => endChild(upstream),
    startUpstream: async () => {
      upstream = await startUpstream(binary, configFile, upstreamPort);
    },
    stop: async () => {
      await gate.close();
      await endChild(upstream);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function registryConfig(data: string, port: number): string {
  return JSON.stringify({
    version: 0.1,
    log: { level: "error" },
    // No cache of blobs: it would name blobs that a collection has deleted.
    storage: { filesystem: { rootdirectory: data }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}`, secret: "0123456789abcdef" },
  });
}

async function startUpstream(binary: string, config: string, port: number): Promise<ChildProcess> {
  const child = spawn(binary, ["serve", config], { stdio: "ignore" });
  const isUp = () => send(`http://127.0.0.1:${port}/v2/`, "GET", {}).then(({ status }) => status === 200);
  await until(isUp, 60_000);
  return child;
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function send(url: string, method: string, { as, headers, body }: Call): Promise<Answer> {
  const password = as === undefined ? undefined : (passwords[as as Name] ?? "wrong");
  const authorization = `Basic ${Buffer.from(`${as}:${password}`).toString("base64")}`;
  const answer = await request(url, {
    method: method as "GET",
    headers: { accept: manifestType, ...headers, ...(as !== undefined && { authorization }) },
    body: body as Buffer,
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

export function digestOf(bytes: string | Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

type CallGate = (method: string, path: string, options?: Call) => Promise<Answer>;

/** Digest of a blob that was sent in one part and then closed. */
export async function pushBlob(
  call: CallGate,
  about: { repository: string; as: Name; body: string | Buffer },
): Promise<string> {
  const { repository, as, body } = about;
  const started = await call("POST", `/v2/${repository}/blobs/uploads/`, { as });
  if (started.status !== 202) throw new Error(`the upload was answered ${started.status}: ${started.text}`);
  const location = String(started.headers["location"]);
  const headers = { "content-type": "application/octet-stream" };
  const sent = await call("PATCH", location, { as, headers, body });
  if (sent.status !== 202) throw new Error(`the part was answered ${sent.status}: ${sent.text}`);
  const digest = digestOf(body);
  const end = `${sent.headers["location"]}&digest=${encodeURIComponent(digest)}`;
  const done = await call("PUT", end, { as });
  if (done.status !== 201) throw new Error(`the end was answered ${done.status}: ${done.text}`);
  return digest;
}

let pushed = 0;

async function push(call: CallGate, { repository, tag, as }: { repository: string; tag: string; as: Name }) {
  const config = JSON.stringify({
    architecture: "amd64",
    os: "linux",
    rootfs: { type: "layers", diff_ids: [] },
  });
  const layer = `layer ${pushed++} of ${repository}`;
  for (const body of [config, layer]) await pushBlob(call, { repository, as, body });
  const describe = (mediaType: string, body: string) => ({
    mediaType,
    digest: digestOf(body),
    size: body.length,
  });
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: describe("application/vnd.oci.image.config.v1+json", config),
    layers: [describe("application/vnd.oci.image.layer.v1.tar", layer)],
  });
  const headers = { "content-type": manifestType };
  const done = await call("PUT", `/v2/${repository}/manifests/${tag}`, { as, headers, body: manifest });
  if (done.status !== 201) throw new Error(`the manifest was answered ${done.status}: ${done.text}`);
  return { digest: digestOf(manifest), layer: digestOf(layer) };
}
