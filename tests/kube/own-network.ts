// Runs a test with pods in a network of its own, which has the cluster's addresses: those of Services and of pods are local
// ones there. The API server stays outside; sockets in `dir` lead to it, and from it to the node's logs.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { parse } from "yaml";

/** Where the API servers of the lane have their Services, and a network beside it for pods. */
export const networks = { services: "10.96.0.0/16", pods: "10.244.0.0/16" };

type Place = { host: string; port: number };

export function apiServerOf(kubeconfig: string): Place {
  const { clusters } = parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: { server: string } }[];
  };
  const url = new URL(clusters[0]?.cluster.server ?? "");
  return { host: url.hostname, port: Number(url.port) };
}

/** Joins every connection to `listen` with a new one to `target`; each is a place or the path of a socket. */
export async function relay(listen: Place | string, target: Place | string): Promise<Server> {
  const server = createServer({ noDelay: true }, (client) => {
    const onward = typeof target === "string" ? connect(target) : connect({ ...target, noDelay: true });
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  if (typeof listen === "string") server.listen(listen);
  else server.listen(listen);
  await once(server, "listening");
  return server;
}

export type Inside = {
  kubeconfig: string;
  dir: string;
  logs: Place;
  /** Whether the whole of a test is played. */
  isWhole: boolean;
};

type Run = { kubeconfig: string; dir: string; hasPodNetworks?: boolean; isWhole?: boolean };

const local = (network: string) => `ip route add local ${network} dev lo`;
const shared = Object.values(networks).map(local);
/** Each pod has a network of its own; this one routes between them. */
const machine = [
  local(networks.services),
  "ip addr add 10.244.0.1/32 dev lo",
  "echo 1 >/proc/sys/net/ipv4/ip_forward",
  "mkdir -p /run/netns",
  "mount -t tmpfs tmpfs /run/netns",
];

/** As `unshare` needs it; an account without rights becomes root of a namespace that holds nothing but the network. */
const unshare = process.getuid?.() === 0 ? ["--net", "--mount"] : ["--net", "--mount", "--map-root-user"];

/** Runs a file of Node in such a network with `SVC_INSIDE`, and resolves with its exit code and what it printed. */
export async function runInside(
  file: string,
  { kubeconfig, dir, hasPodNetworks = false, isWhole = true }: Run,
): Promise<{ code: number; output: string }> {
  const sockets = { api: join(dir, "api.sock"), logs: join(dir, "logs.sock") };
  for (const path of Object.values(sockets)) rmSync(path, { force: true });
  const toApi = await relay(sockets.api, apiServerOf(kubeconfig));
  const toLogs = await relay({ host: "127.0.0.1", port: 0 }, sockets.logs);
  const logs = { host: "127.0.0.1", port: (toLogs.address() as AddressInfo).port };
  const inside: Inside = { kubeconfig, dir, logs, isWhole };
  const script = ["ip link set lo up", ...(hasPodNetworks ? machine : shared), 'exec "$@"'].join(" && ");
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn("unshare", [...unshare, "sh", "-c", script, "sh", process.execPath, file], {
    env: { ...env, SVC_INSIDE: JSON.stringify(inside) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = (await once(child, "close")) as [number | null];
  for (const server of [toApi, toLogs]) server.close();
  return { code: code ?? 1, output };
}

/** What `runInside` said to this process, whose way to the API server it opens. */
export async function enterNetwork(): Promise<Inside & { close: () => void }> {
  const inside = JSON.parse(process.env["SVC_INSIDE"] ?? "{}") as Inside;
  const socket = join(inside.dir, "api.sock");
  // The second one is the Service `kubernetes`, which the lane gives no endpoint.
  const servers = [
    await relay(apiServerOf(inside.kubeconfig), socket),
    await relay({ host: "10.96.0.1", port: 443 }, socket),
  ];
  return {
    ...inside,
    close: () => {
      for (const server of servers) server.close();
    },
  };
}
