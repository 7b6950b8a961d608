import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { addressKey } from "@svc/proto/address";
import type { Logger, Registry } from "@svc/telemetry";
import { createCredentials } from "./access/credentials.ts";
import { startDailyCollection } from "./collect/daily.ts";
import type { GateConfig } from "./config.ts";
import { createGate } from "./gate.ts";
import { createLease } from "./lease/lease.ts";
import { createLeaseServer } from "./lease/listener.ts";
import { createMeter } from "./metrics.ts";
import { createForward } from "./proxy/forward.ts";
import { createPushLog } from "./push-log.ts";

// An import of node:http would load the WebSocket client of Node with it.
const { createServer } = process.getBuiltinModule("node:http");

type Deps = { config: GateConfig; log: Logger; registry: Registry; now?: () => number };

const headersWithinMs = 10_000;
const keepAliveMs = 75_000;
const maxConnections = 1_024;
/** A build may run what others wrote, and must not keep the nodes from pulling. */
const connectionsPerAddress = maxConnections / 4;
const drainMs = 10_000;
const answerMs = 15_000;
/** Prune keeps what was pushed in the last 24 hours. */
const pushesKeptMs = 48 * 3_600_000;

export async function startGate({ config, log, registry, now = Date.now }: Deps) {
  const warn = (message: string) => log.warn(message);
  const credentials = createCredentials(config.credentialsFile, warn);
  const { leaseFile: file, quietMs, leaseMs: ttlMs } = config;
  const lease = createLease({ file, quietMs, ttlMs, now, warn });
  if (lease.isReadOnly()) log.warn("garbage collection started; the registry is read-only until it ends");
  const { forward, close } = createForward({ upstream: config.upstream, idleMs: config.idleMs });
  const meter = createMeter(registry, lease.isReadOnly);
  const pushes = createPushLog({ file: config.pushFile, keptMs: pushesKeptMs, now, warn });
  const gate = createGate({ credentials, lease, forward, pushes, meter, log });
  const server = createServer({
    headersTimeout: headersWithinMs,
    connectionsCheckingInterval: headersWithinMs / 4,
    keepAliveTimeout: keepAliveMs,
  });
  // Uploads take as long as they take while bytes arrive.
  server.requestTimeout = 0;
  // Longer than for the registry, whose silence is answered.
  server.timeout = config.idleMs + answerMs;
  server.maxConnections = maxConnections;
  server.on("connection", limitByAddress(connectionsPerAddress));
  const handle: RequestListener = (incoming, response) => {
    gate(incoming, response).catch((error: unknown) => {
      log.error({ err: error }, "request failed unexpectedly");
      response.destroy();
    });
  };
  server.on("request", handle);
  server.on("checkContinue", handle);
  const leaseServer = createLeaseServer({ lease, credentials, log });
  const port = await listen(server, { host: config.host, port: config.port });
  const leasePort = await listen(leaseServer, { host: "127.0.0.1", port: config.leasePort });
  const { everyMs, doneFile } = config.collect;
  const daily = everyMs > 0 ? startDailyCollection({ everyMs, doneFile, log }) : undefined;
  return {
    port,
    leasePort,
    close: async () => {
      await daily?.stop();
      await end(server);
      await end(leaseServer);
      close();
    },
  };
}

/** Closes what an address opens beyond its share. */
function limitByAddress(most: number): (socket: Socket) => void {
  const open = new Map<string, number>();
  return (socket) => {
    const address = addressKey(socket.remoteAddress ?? "");
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    if (count > most) socket.destroy();
  };
}

async function listen(server: Server, address: { host: string; port: number }): Promise<number> {
  server.listen(address.port, address.host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Requests under way may finish. */
async function end(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearTimeout(timer);
}
