import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { KubeObject } from "../cluster-api.ts";
import type { Controller } from "../controllers/context.ts";
import { controllerQueue } from "../controllers/context.ts";
import type { Source } from "../controllers/informer.ts";
import type { Subset } from "../controllers/network/endpoints.ts";
import type { Service } from "../controllers/network/service-index.ts";
import { keyOf } from "../controllers/objects.ts";

type Backend = { host: string; port: number };
export type Endpoints = KubeObject & { subsets?: Subset[] };
type Listener = { server: Server; backends: Backend[]; turn: number };

const CONNECT_TIMEOUT_MS = 5_000;

/** `clusterIP:port` → where its connections go. Ports without a ready pod are not in it. */
export function routesOf(service: Service, endpoints: Endpoints | undefined): Map<string, Backend[]> {
  const routes = new Map<string, Backend[]>();
  const { clusterIP = "None", ports = [] } = service.spec;
  if (clusterIP === "None" || clusterIP === "") return routes;
  for (const port of ports) {
    if ((port.protocol ?? "TCP") !== "TCP") continue;
    const backends = (endpoints?.subsets ?? []).flatMap((subset) => {
      const target = subset.ports?.find((one) => one.name === port.name);
      if (target === undefined) return [];
      return (subset.addresses ?? []).map(({ ip }) => ({ host: ip, port: target.port }));
    });
    if (backends.length > 0) routes.set(`${clusterIP}:${port.port}`, backends);
  }
  return routes;
}

/** Joins two sockets: an end on one side is an end on the other, an error on one destroys both. */
function join(client: Socket, server: Socket): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.pipe(to);
    from.on("error", () => to.destroy());
    from.on("close", () => {
      if (!from.readableEnded) to.destroy();
    });
  }
}

function accept(client: Socket, listener: Listener, sockets: Set<Socket>): void {
  listener.turn = (listener.turn + 1) % Math.max(listener.backends.length, 1);
  const backend = listener.backends[listener.turn];
  if (backend === undefined) {
    client.destroy();
    return;
  }
  const server = connect({ ...backend, allowHalfOpen: true, noDelay: true, timeout: CONNECT_TIMEOUT_MS });
  server.once("timeout", () => server.destroy());
  server.once("connect", () => server.setTimeout(0));
  for (const socket of [client, server]) {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  }
  client.setNoDelay(true);
  join(client, server);
}

async function listen(route: string, backends: Backend[], sockets: Set<Socket>): Promise<Listener> {
  const [host = "", port = ""] = route.split(":");
  const server = createServer({ allowHalfOpen: true });
  const listener: Listener = { server, backends, turn: 0 };
  server.on("connection", (client) => accept(client, listener, sockets));
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo | string | null>();
  // Also after the start: an error of one accept must not end the process.
  server.on("error", reject);
  server.listen({ host, port: Number(port) }, () => resolve(server.address()));
  await promise;
  return listener;
}

/**
 * Serves the cluster addresses: a listener exists only while a Service has a ready pod. Connections that are open
 * when a pod becomes unready continue until one side ends them.
 */
export function startServiceProxy(
  deps: { warn(text: string): void },
  { services, endpoints }: { services: Source<Service>; endpoints: Source<Endpoints> },
): Controller {
  const listeners = new Map<string, Map<string, Listener>>();
  const sockets = new Set<Socket>();
  const queue = controllerQueue("Relay of service", deps, async (key) => {
    const service = services.get(key);
    const wanted =
      service === undefined ? new Map<string, Backend[]>() : routesOf(service, endpoints.get(key));
    const open = listeners.get(key) ?? new Map<string, Listener>();
    for (const [route, listener] of open) {
      if (wanted.has(route)) continue;
      listener.server.close();
      open.delete(route);
    }
    listeners.set(key, open);
    for (const [route, backends] of wanted) {
      const listener = open.get(route);
      if (listener === undefined) open.set(route, await listen(route, backends, sockets));
      else listener.backends = backends;
    }
    if (open.size === 0) listeners.delete(key);
    return undefined;
  });
  endpoints.onChange((one) => queue.add(keyOf(one)));
  services.onChange((service) => {
    const key = keyOf(service);
    if (endpoints.get(key) !== undefined || listeners.has(key)) queue.add(key);
  });
  return {
    close: async () => {
      await queue.close();
      for (const { server } of [...listeners.values()].flatMap((open) => [...open.values()])) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
