// The global fetch takes twice the memory and processor time for a thousand small polls a second; a kept-alive
// connection of node:http does the same work.

import type { IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const { Agent, request: httpRequest } = process.getBuiltinModule("node:http");

/** As much of fetch as the client uses: texts both ways, no redirects. */
export function createNodeFetch(connections: number): typeof globalThis.fetch {
  const options = { keepAlive: true, maxSockets: connections };
  const plain = new Agent(options);
  const tls = new TlsAgent(options);
  return async (input, { method = "GET", headers, body, signal } = {}) => {
    const url = new URL(String(input));
    const isTls = url.protocol === "https:";
    const send = isTls ? httpsRequest : httpRequest;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = send(url, {
      method,
      headers: { ...(headers as Record<string, string>) },
      agent: isTls ? tls : plain,
      ...(signal ? { signal } : {}),
    });
    outgoing.once("response", resolve).on("error", reject);
    outgoing.end(typeof body === "string" ? body : undefined);
    const response = await promise;
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const retryAfter = response.headers["retry-after"];
    const status = response.statusCode ?? 500;
    const isBodiless = status === 204 || status === 304;
    return new Response(isBodiless ? null : text, {
      status,
      headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
    });
  };
}
