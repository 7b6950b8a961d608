// The platform's registry as builds sees it: a docker-registry, and the gate as a process of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { defaultCacheDirs, findDockerRegistry, findFreePort } from "@svc/local-stack";
import { until } from "@svc/mesh/testing";
import { digestOf, mediaTypes, openRegistry, putReferrer, type Registry } from "@svc/registry";

const repo = resolve(import.meta.dirname, "../../../..");
const startWithinMs = 60_000;
const password = "p".repeat(24);

export type GatedRegistry = {
  host: string;
  /** With the right to delete, by way of the gate. */
  registry: Registry;
  /** Stores an image that counts as pushed three days ago; returns its digest. */
  pushOld: (path: string, tag: string, content?: string) => Promise<string>;
  /** Stores what refers to an image, as old as those; returns its digest. */
  referOld: (path: string, subject: string, content: string) => Promise<string>;
  /** Stores an image by way of the gate. */
  pushNow: (path: string, tag: string, content?: string) => Promise<string>;
  /** Ends one of them with SIGKILL; the returned function starts it again. */
  kill: (which: "registry" | "gate") => Promise<() => Promise<void>>;
  /** `user:password` of the right to push builds, of that to delete, and of that to write everything. */
  credentials: { build: string; prune: string; platform: string };
  stop: () => Promise<void>;
};

export async function startGatedRegistry(): Promise<GatedRegistry> {
  const dir = mkdtempSync(join(tmpdir(), "svc-gated-"));
  // biome-ignore lint/style/noProcessEnv: says where the program is looked for
  const env = process.env;
  const cacheDirs = defaultCacheDirs(env, repo);
  const binary = await findDockerRegistry({ env, cacheDirs, progress: () => undefined });
  const [upstreamPort, port] = [await findFreePort(), await findFreePort()];
  const upstream = `127.0.0.1:${upstreamPort}`;
  const host = `127.0.0.1:${port}`;
  const state = join(dir, "gate");
  mkdirSync(state);
  writeFileSync(join(state, "pushes.jsonl"), `${JSON.stringify({ since: Date.now() - 72 * 3_600_000 })}\n`);
  const start = {
    registry: () => startUpstream(dir, binary, upstream),
    gate: () => startGate(dir, port, upstream),
  };
  const children = { registry: start.registry(), gate: start.gate() };
  const open = (at: string, user?: string) =>
    openRegistry({ host: at, plainHttp: true, ...(user && { credential: { user, password } }) });
  const isUp = async () => {
    for (const at of [upstream, host]) await until(() => open(at, "prune").listRepositories(), startWithinMs);
  };
  await isUp();
  return {
    host,
    registry: open(host, "prune"),
    pushOld: (path, tag, content = tag) => push(open(upstream), { path, tag, content }),
    referOld: (path, digest, content) =>
      putReferrer(open(upstream), {
        path,
        subject: { mediaType: mediaTypes.manifest, digest, size: 7 },
        artifactType: "application/vnd.in-toto+json",
        content: Buffer.from(content),
      }),
    pushNow: (path, tag, content = tag) => push(open(host, "platform"), { path, tag, content }),
    kill: async (which) => {
      await end(children[which]);
      return async () => {
        children[which] = start[which]();
        await isUp();
      };
    },
    credentials: { build: `build:${password}`, prune: `prune:${password}`, platform: `platform:${password}` },
    stop: async () => {
      for (const child of [children.gate, children.registry]) await end(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function startUpstream(dir: string, binary: string, addr: string): ChildProcess {
  const config = join(dir, "config.yml");
  const storage = { filesystem: { rootdirectory: join(dir, "images") }, delete: { enabled: true } };
  writeFileSync(config, JSON.stringify({ version: 0.1, log: { level: "error" }, storage, http: { addr } }));
  return spawn(binary, ["serve", config], { stdio: "ignore" });
}

function startGate(dir: string, port: number, upstream: string): ChildProcess {
  const credentials = join(dir, "credentials");
  writeFileSync(credentials, ["platform", "build", "prune"].map((user) => `${user}:${password}\n`).join(""));
  const main = join(repo, "services/registry-gate/src/main.ts");
  return spawn(process.execPath, [main], {
    stdio: "ignore",
    env: {
      // biome-ignore lint/style/noProcessEnv: it loads faster with the code cache of this process
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      SVC_REGISTRY_GATE_PORT: String(port),
      SVC_REGISTRY_GATE_LEASE_PORT: "0",
      SVC_REGISTRY_GATE_UPSTREAM: `http://${upstream}`,
      SVC_REGISTRY_GATE_CREDENTIALS_FILE: credentials,
      SVC_REGISTRY_GATE_STATE_DIR: join(dir, "gate"),
    },
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function push(
  registry: Registry,
  { path, tag, content }: { path: string; tag: string; content: string },
): Promise<string> {
  const config = Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux" }));
  const layer = Buffer.from(`layer ${content} of ${path}`);
  const describe = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  for (const bytes of [config, layer]) {
    const open = () => Readable.from([bytes]);
    await registry.putBlob(path, { digest: digestOf(bytes), size: bytes.length, open });
  }
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: describe(mediaTypes.config, config),
    layers: [describe(mediaTypes.layer, layer)],
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  return registry.putManifest(path, tag, { mediaType: mediaTypes.manifest, bytes });
}
