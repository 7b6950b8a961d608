import type { Registry } from "prom-client";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { createServer } = process.getBuiltinModule("node:http");

type HealthServer = { port: number; close: () => Promise<void> };

/**
 * Serves `/healthz`, `/readyz` and `/metrics` of one process on a port of its own, for probes and scrapes.
 * `isReady` returns undefined when ready, else a sentence that says what is missing. `isStuck` returns undefined while
 * the process works, else a sentence that says why it must be restarted.
 * Rejects with the system error when the port is taken.
 */
export async function startHealthServer(options: {
  host: string;
  port: number;
  registry: Registry;
  isReady: () => Promise<string | undefined>;
  isStuck?: () => string | undefined;
}): Promise<HealthServer> {
  const answer = async (path: string): Promise<[number, string, string]> => {
    if (path === "/healthz") {
      const stuck = options.isStuck?.();
      if (stuck === undefined) return [200, "application/json", '{"status":"ok"}'];
      return [503, "application/json", JSON.stringify({ status: "stuck", reason: stuck })];
    }
    if (path === "/metrics") return [200, options.registry.contentType, await options.registry.metrics()];
    if (path !== "/readyz") return [404, "application/json", '{"status":"not found"}'];
    const missing = await options.isReady();
    if (missing === undefined) return [200, "application/json", '{"status":"ready"}'];
    return [503, "application/json", JSON.stringify({ status: "not ready", reason: missing })];
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    answer(path).then(
      ([status, type, body]) => response.writeHead(status, { "content-type": type }).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
