// Runs a test with pods in a network of its own, which has the cluster's addresses: those of Services and of pods are local
// ones there. The API server stays outside; sockets in `dir` lead to it, and from it to the node's logs.

import { readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parse } from "yaml";
import { type Place, relay } from "../namespaces/relay.ts";
import { readInside, runInNamespaces } from "../namespaces/run.ts";

/** Where the API servers of the lane have their Services, and a network beside it for pods. */
export const networks = { services: "10.96.0.0/16", pods: "10.244.0.0/16" };

export function apiServerOf(kubeconfig: string): Place {
  const { clusters } = parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: { server: string } }[];
  };
  const url = new URL(clusters[0]?.cluster.server ?? "");
  return { host: url.hostname, port: Number(url.port) };
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

/** An account without rights becomes root of a namespace that holds nothing but the network. */
const more = process.getuid?.() === 0 ? [] : ["--map-root-user"];

/** Runs a file of Node in such a network, and resolves with its exit code and what it printed. */
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
  const prepare = hasPodNetworks ? machine : shared;
  const ended = await runInNamespaces(file, { more, prepare }, inside);
  for (const server of [toApi, toLogs]) server.close();
  return ended;
}

/** What `runInside` said to this process, whose way to the API server it opens. */
export async function enterNetwork(): Promise<Inside & { close: () => void }> {
  const inside = readInside<Inside>();
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
