// The servers of NATS that the stack runs: one, or three that are a cluster (docs/reference/local-stack.md#nats).

import { join } from "node:path";
import type { Ports } from "../ports/ports.ts";
import { embeddedParts } from "./embedded-parts.ts";
import { natsServers } from "./guard.ts";
import type { StackOptions } from "./options.ts";

type NatsServer = { name: string; dataFolder: string; routes: string };

const routesOf = (name: string): string => `${name}-routes`;

/** One for each server; `routes` is the name of the port that the others use. */
export function natsServersOf(options: Pick<StackOptions, "replicas">): NatsServer[] {
  return Array.from({ length: natsServers(options.replicas) }, (_, index) => {
    const name = index === 0 ? "nats" : `nats-${index + 1}`;
    return { name, dataFolder: index === 0 ? "" : name, routes: routesOf(name) };
  });
}

/** Names of the ports beside that of the first server. */
export function natsPortNames(options: Pick<StackOptions, "replicas" | "env">): string[] {
  if (!embeddedParts(options.env).includes("nats")) return [];
  const servers = natsServersOf(options);
  if (servers.length === 1) return [];
  return [...servers.slice(1).map(({ name }) => name), ...servers.map(({ routes }) => routes)];
}

/** Addresses of all servers with commas between them, as services take them. */
export function natsAddress(options: Pick<StackOptions, "replicas">, ports: Ports): string {
  return natsServersOf(options)
    .map(({ name }) => `nats://127.0.0.1:${ports[name]}`)
    .join(",");
}

/** The folder of a server below that of the first one. */
export function natsFolder(folder: string, { dataFolder }: NatsServer): string {
  return dataFolder === "" ? folder : join(folder, dataFolder);
}
