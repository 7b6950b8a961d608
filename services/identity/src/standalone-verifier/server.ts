// The vanilla session-server protocol on plain HTTP, as the internal gateway speaks it (docs/reference/session-verifier.md#answers).

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sessionVerifier } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Verify } from "../session-verifier/verify.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { createServer } = process.getBuiltinModule("node:http");

type StandaloneServer = { port: number; close: () => Promise<void> };
type ServerOptions = { host: string; port: number; verify: Verify; log: Pick<Logger, "error"> };

const concurrentLimit = 256;
const headersMs = 10_000;
const { path, aliases = [] } = sessionVerifier.hasJoined.http ?? { path: "" };
const paths = new Set([path, ...aliases]);

/** Serves until closed; closing aborts requests in flight. */
export async function startServer(options: ServerOptions): Promise<StandaloneServer> {
  const closing = new AbortController();
  let inFlight = 0;
  const server = createServer(
    { headersTimeout: headersMs, requestTimeout: headersMs },
    (request, response) => {
      inFlight += 1;
      response.once("close", () => {
        inFlight -= 1;
      });
      const given = { request, response, isFull: inFlight > concurrentLimit, closing: closing.signal };
      void answer(options, given).catch((error: unknown) => {
        options.log.error({ err: error }, "request failed");
        if (!response.headersSent) end(response, 500);
      });
    },
  );
  server.listen(options.port, options.host);
  await once(server, "listening");
  const closed = once(server, "close").then(() => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      closing.abort();
      server.close();
      server.closeIdleConnections();
      return closed;
    },
  };
}

type Given = { request: IncomingMessage; response: ServerResponse; isFull: boolean; closing: AbortSignal };

async function answer({ verify }: ServerOptions, given: Given): Promise<void> {
  const { request, response } = given;
  const url = new URL(request.url ?? "/", "http://nano");
  const isHealth = url.pathname === "/healthz";
  if (!isHealth && !paths.has(url.pathname)) return end(response, 404);
  if (request.method !== "GET") return end(response, 405, { allow: "GET" });
  if (hasBody(request)) return end(response, 400, { connection: "close" });
  if (isHealth) return sendJson(response, { status: "ok" });
  if (given.isFull) return end(response, 503, { "retry-after": "1" });
  const query = readParameters(url.searchParams);
  if (!query) return end(response, 204);
  const leaving = new AbortController();
  response.once("close", () => leaving.abort());
  const verdict = await verify(query, AbortSignal.any([leaving.signal, given.closing]));
  if (verdict.kind === "admitted") return sendJson(response, verdict.profile);
  end(response, verdict.kind === "rejected" ? 204 : 503);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

// A duplicate parameter is ambiguous.
function readParameters(given: URLSearchParams): Record<string, string> | undefined {
  const query: Record<string, string> = {};
  for (const name of ["username", "serverId", "ip"]) {
    const values = given.getAll(name);
    if (values.length > 1) return undefined;
    if (values[0] !== undefined) query[name] = values[0];
  }
  return query;
}

function sendJson(response: ServerResponse, value: unknown): void {
  const body = JSON.stringify(value);
  const length = String(Buffer.byteLength(body));
  response.writeHead(200, { "content-type": "application/json", "content-length": length }).end(body);
}

function end(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, status === 204 ? headers : { ...headers, "content-length": "0" }).end();
}
