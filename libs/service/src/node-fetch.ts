// The global fetch and undici each take 3 to 6 MB of heap and 20 to 30 MB of resident memory at their first call, and twice
// the processor time for a thousand small polls a second; a kept-alive connection of node:http does the same work.

import type { IncomingMessage, RequestOptions } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { Agent, request: httpRequest } = process.getBuiltinModule("node:http");

type NodeFetchOptions = {
  /** Connections to one origin; calls beyond them wait. */
  connections: number;
  /** For one connection; none unless given. */
  connectTimeoutMs?: number;
};

/** Calls with connections of their own. */
export type NodeFetch = {
  /** As much of fetch as `@svc/client` uses for JSON: texts both ways, no redirects. */
  fetch: typeof globalThis.fetch;
  /** Ends the connections once the calls that are under way have ended. */
  close: () => Promise<void>;
  /** Ends the connections; calls that are under way fail. */
  destroy: () => void;
};

/**
 * Makes a fetch of texts over node:http and node:https. A failed call rejects with the error of the socket, one that took
 * longer to connect than `connectTimeoutMs` with the code ETIMEDOUT, an aborted one with the reason of its signal.
 */
export function createNodeFetch({ connections, connectTimeoutMs }: NodeFetchOptions): NodeFetch {
  const options = { keepAlive: true, maxSockets: connections };
  const plain = new Agent(options);
  const tls = new TlsAgent(options);
  const destroy = () => {
    plain.destroy();
    tls.destroy();
  };
  const idle = Promise.withResolvers<void>();
  let [underWay, isClosing] = [0, false];
  const endWhenIdle = () => {
    if (!isClosing || underWay > 0) return;
    destroy();
    idle.resolve();
  };
  const fetch: typeof globalThis.fetch = async (input, { method = "GET", headers, body, signal } = {}) => {
    signal?.throwIfAborted();
    const url = new URL(String(input));
    underWay += 1;
    try {
      const response = await send(url, {
        ...{ method, headers: { ...(headers as Record<string, string>) } },
        ...{ agent: url.protocol === "https:" ? tls : plain, connectTimeoutMs },
        ...(signal && { signal }),
        ...(typeof body === "string" && { body }),
      });
      return toResponse(response, await textOf(response));
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      underWay -= 1;
      endWhenIdle();
    }
  };
  const close = () => {
    isClosing = true;
    endWhenIdle();
    return idle.promise;
  };
  return { fetch, close, destroy };
}

type Outgoing = RequestOptions & { body?: string; connectTimeoutMs: number | undefined };

function send(url: URL, { body, connectTimeoutMs, ...options }: Outgoing): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options);
  outgoing.once("response", resolve).on("error", reject);
  if (connectTimeoutMs !== undefined) {
    outgoing.once("socket", (socket) => {
      if (!socket.connecting) return;
      const late = Object.assign(new Error("the connection timed out"), { code: "ETIMEDOUT" });
      const timer = setTimeout(() => socket.destroy(late), connectTimeoutMs);
      socket.once("connect", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
    });
  }
  outgoing.end(body);
  return promise;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A `Response` of Node would load undici. */
function toResponse({ statusCode = 500, headers }: IncomingMessage, text: string): Response {
  const response = {
    status: statusCode,
    ok: statusCode >= 200 && statusCode < 300,
    headers: { get: (name: string) => headers[name.toLowerCase()]?.toString() ?? null },
    text: async () => text,
    json: async (): Promise<unknown> => JSON.parse(text),
  };
  return response as unknown as Response;
}
