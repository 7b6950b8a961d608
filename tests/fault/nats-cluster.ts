// The three servers of NATS that an installation with the values `ha` runs, on loopback: their configuration and environment are
// those of its objects.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { defaultCacheDirs, findFreePort, findNatsServer } from "@svc/local-stack";
import { installation, objectsOf } from "../../services/cli/src/manifests/installation.ts";
import { firstSecrets } from "../../services/cli/src/manifests/secrets.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";

const root = resolve(import.meta.dirname, "../..");

type EnvVar = { name: string; value?: string; valueFrom?: { secretKeyRef?: { key: string } } };
type Ports = { client: number; routes: number; monitor: number };
export type NatsCluster = {
  /** The address of the Service, which leads to a server that lives. */
  url: string;
  urls: string[];
  passwords: Record<string, string>;
  /** Ends one server with SIGKILL. */
  kill: (at: number) => Promise<void>;
  start: (at: number) => void;
  stop: () => Promise<void>;
};

function shipped() {
  const values = readValues(join(root, "deploy/values/ha.yaml"));
  const objects = installation.flatMap((file) => objectsOf(file, values));
  const find = (kind: string) => objects.find((one) => one.kind === kind && one.metadata.name === "nats");
  const { data } = find("ConfigMap") as unknown as { data: Record<string, string> };
  const { spec } = find("StatefulSet") as unknown as {
    spec: { replicas: number; template: { spec: { containers: { env: EnvVar[] }[] } } };
  };
  const secret = firstSecrets(values).find(({ metadata }) => metadata.name === values.secrets.nats);
  return {
    data,
    replicas: spec.replicas,
    env: spec.template.spec.containers[0]?.env ?? [],
    passwords: secret?.stringData ?? {},
  };
}

/** As the kubelet does: `$(NAME)` is a variable named before. */
function environmentOf(env: readonly EnvVar[], pod: string, passwords: Record<string, string>) {
  const found: Record<string, string> = {};
  for (const { name, value, valueFrom } of env) {
    const key = valueFrom?.secretKeyRef?.key;
    found[name] = key === undefined ? (value ?? pod) : (passwords[key] ?? "");
    found[name] = found[name].replaceAll(/\$\((\w+)\)/g, (whole, other: string) => found[other] ?? whole);
  }
  return found;
}

/** Addresses of the cluster become those of this machine; nothing else is changed. */
function localConfig(name: string, text: string, { ports, dir }: { ports: Ports; dir: string }): string {
  if (name === "users.conf") return text;
  return text
    .replace("port: 4222", `host: "127.0.0.1"\nport: ${ports.client}`)
    .replace("http_port: 8222", `http: "127.0.0.1:${ports.monitor}"`)
    .replace("port: 6222", `host: "127.0.0.1"\n  port: ${ports.routes}`)
    .replace("/run/nats", dir)
    .replace('"/data"', JSON.stringify(join(dir, "data")));
}

/** As a Service does, a new connection gets a server that accepts it; it ends with that server. */
async function startService(ports: readonly number[]): Promise<Server> {
  const forward = (client: Socket, [port, ...others]: readonly number[]): void => {
    if (port === undefined) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    const refused = () => forward(client, others);
    upstream.once("error", refused);
    upstream.once("connect", () => {
      upstream.off("error", refused);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        from.pipe(to);
        from.on("error", () => to.destroy());
        from.on("close", () => to.destroy());
      }
    });
  };
  const server = createServer((client) => forward(client, ports));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

export async function startNatsCluster(): Promise<NatsCluster> {
  const { data, env, passwords, replicas } = shipped();
  const cacheDirs = defaultCacheDirs(process.env, root);
  const binary = await findNatsServer({ env: process.env, cacheDirs, progress: () => undefined });
  const base = mkdtempSync(join(tmpdir(), "svc-nats-cluster-"));
  const all: Ports[] = [];
  for (let at = 0; at < replicas; at++)
    all.push({ client: await findFreePort(), routes: await findFreePort(), monitor: await findFreePort() });
  const toLocal = (value: string) =>
    value.replace(/nats-(\d)\.nats-peers\.[^:]*:6222/, (_, at) => `127.0.0.1:${all[Number(at)]?.routes}`);
  const children: ChildProcess[] = [];
  const start = (at: number) => {
    const dir = join(base, String(at));
    mkdirSync(dir, { recursive: true });
    const ports = all[at] as Ports;
    for (const [name, text] of Object.entries(data))
      writeFileSync(join(dir, name), localConfig(name, text, { ports, dir }));
    const given = Object.entries(environmentOf(env, `nats-${at}`, passwords));
    children[at] = spawn(binary, ["--config", join(dir, "nats.conf"), "--log", join(dir, "nats.log")], {
      env: Object.fromEntries(given.map(([name, value]) => [name, toLocal(value)])),
      stdio: "ignore",
    });
  };
  const end = async (at: number, signal: NodeJS.Signals) => {
    const child = children[at];
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  };
  const onExit = () => {
    for (const child of children) child.kill("SIGKILL");
  };
  process.once("exit", onExit);
  for (const at of all.keys()) start(at);
  const service = await startService(all.map(({ client }) => client));
  return {
    url: `nats://127.0.0.1:${(service.address() as AddressInfo).port}`,
    urls: all.map(({ client }) => `nats://127.0.0.1:${client}`),
    passwords,
    start,
    kill: (at) => end(at, "SIGKILL"),
    stop: async () => {
      service.close();
      process.removeListener("exit", onExit);
      await Promise.all(all.map((_, at) => end(at, "SIGKILL")));
      rmSync(base, { recursive: true, force: true });
    },
  };
}
