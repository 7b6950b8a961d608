// Passes one request to the registry and its answer back, byte for byte as they come: a side that reads slowly slows
// the other down, and nothing is kept.

import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { forwardedRequest, forwardedResponse } from "./headers.ts";

const { Agent, request } = process.getBuiltinModule("node:http");

export type Forwarded =
  | { kind: "answered"; status: number }
  /** No answer of the registry came. */
  | { kind: "unreachable"; cause: Error }
  /** The answer leads to another server. */
  | { kind: "astray"; location: string }
  /** One side ended in the middle. */
  | { kind: "broken"; cause: Error };

type Exchange = {
  incoming: IncomingMessage;
  response: ServerResponse;
  /** Canonical path and query. */
  target: string;
  /** Whether the type of the body means something. */
  isTyped: boolean;
  /** Sees the answer before the client does; headers to send with it. */
  onAnswer?: (status: number, headers: IncomingHttpHeaders) => OutgoingHttpHeaders;
};

export type Forward = (exchange: Exchange) => Promise<Forwarded>;

/** `close` ends the connections to the registry. */
export function createForward(options: { upstream: string; idleMs: number }): {
  forward: Forward;
  close: () => void;
} {
  const { hostname, port } = new URL(options.upstream);
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 16 });
  const open = ({ incoming, target, isTyped }: Exchange) => {
    const outgoing = request({
      agent,
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port || 80,
      method: incoming.method,
      path: target,
      headers: forwardedRequest(incoming.headers, { isTyped }),
    });
    outgoing.setTimeout(options.idleMs, () =>
      outgoing.destroy(new Error(`nothing was sent or received for ${options.idleMs / 1000} s`)),
    );
    return outgoing;
  };
  const forward: Forward = async (exchange) => {
    const outgoing = open(exchange);
    const first = await exchangeOnce(exchange, outgoing, options.upstream);
    // The registry may close an idle connection at the moment when it is used again.
    const isRepeatable = exchange.incoming.method === "GET" || exchange.incoming.method === "HEAD";
    if (first.kind !== "unreachable" || !outgoing.reusedSocket || !isRepeatable) return first;
    return exchangeOnce(exchange, open(exchange), options.upstream);
  };
  return { forward, close: () => agent.destroy() };
}

function exchangeOnce(
  { incoming, response, onAnswer }: Exchange,
  outgoing: ClientRequest,
  upstream: string,
): Promise<Forwarded> {
  return new Promise((resolve) => {
    let answer: IncomingMessage | undefined;
    const settle = (result: Forwarded) => {
      response.off("close", onClientClose);
      resolve(result);
    };
    const onClientClose = () => {
      if (response.writableFinished) return;
      outgoing.destroy();
      settle({ kind: "broken", cause: new Error("the client ended the connection") });
    };
    response.on("close", onClientClose);
    outgoing.on("error", (cause) => {
      // The registry may answer before it has read everything, and then close.
      if (answer) return;
      incoming.unpipe(outgoing);
      settle({ kind: "unreachable", cause });
    });
    outgoing.on("response", (received) => {
      answer = received;
      const headers = forwardedResponse(received.headers, upstream);
      if (!headers) {
        outgoing.destroy();
        return settle({ kind: "astray", location: String(received.headers.location) });
      }
      // The rest of a body that the registry does not want would otherwise be read as the next request.
      if (!incoming.complete) headers["connection"] = "close";
      const status = received.statusCode ?? 502;
      Object.assign(headers, onAnswer?.(status, received.headers));
      response.writeHead(status, headers);
      received.on("error", (cause) => {
        response.destroy();
        settle({ kind: "broken", cause });
      });
      response.on("finish", () => settle({ kind: "answered", status }));
      received.pipe(response);
    });
    // `pipe` ends the request only when the body is complete; an aborted one never looks whole to the registry.
    incoming.pipe(outgoing);
  });
}
