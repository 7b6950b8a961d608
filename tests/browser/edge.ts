// What stands between a browser and the gateway somewhere in the world: an edge or a line that cuts, limits and answers in its own
// words. It is a real HTTP proxy that the browser is told to use, so bytes break where they break for people.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fixture } from "./fixture.ts";
import { createPerson, type Person } from "./person.ts";

/** What becomes of a request. */
export type Weather =
  /** The edge answers by itself; the gateway never hears of it. */
  | { kind: "answer"; status: number; type: string; body: string; headers?: Record<string, string> }
  /** The gateway answers, and half of its body arrives. */
  | { kind: "half" }
  /** The line breaks before the answer. */
  | { kind: "cut" };

/** A request as the edge sees it. */
export type Passing = { method: string; path: string };

type Edge = {
  /** Decides what becomes of each request from now on; undefined lets it pass. What was met before is forgotten. */
  set: (decide: (passing: Passing) => Weather | undefined) => void;
  /** Lets everything pass. */
  clear: () => void;
  /** How many requests were not let through since the last `set`. */
  met: () => number;
  proxyServer: string;
  close: () => Promise<void>;
};

/** Starts a proxy for everything that a browser asks of a port of this machine. */
export async function startEdge(port: number): Promise<Edge> {
  let decide: (passing: Passing) => Weather | undefined = () => undefined;
  let met = 0;
  const server = createServer((incoming, outgoing) => {
    const { pathname, search } = new URL(incoming.url ?? "/", "http://edge");
    const weather = decide({ method: incoming.method ?? "GET", path: pathname });
    if (weather) met++;
    if (weather?.kind === "cut") return void incoming.socket.destroy();
    if (weather?.kind === "answer") return answer(outgoing, weather);
    forward({ incoming, outgoing, path: `${pathname}${search}`, port }, weather?.kind === "half");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const set: Edge["set"] = (next) => {
    decide = next;
    met = 0;
  };
  return {
    set,
    clear: () => set(() => undefined),
    met: () => met,
    proxyServer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((closed) => server.close(() => closed()));
}

function answer(
  outgoing: ServerResponse,
  { status, type, body, headers }: Weather & { kind: "answer" },
): void {
  outgoing.writeHead(status, { ...headers, "content-type": type, "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}

type Passage = { incoming: IncomingMessage; outgoing: ServerResponse; path: string; port: number };

function forward({ incoming, outgoing, path, port }: Passage, isHalved: boolean): void {
  const { "proxy-connection": _, ...headers } = incoming.headers;
  // Half of packed bytes is no half of a text.
  if (isHalved) headers["accept-encoding"] = "identity";
  const { method } = incoming;
  const upstream = request({ host: "127.0.0.1", port, method, path, headers }, (reply) => {
    if (isHalved) return void passHalf(reply, outgoing);
    outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
    outgoing.flushHeaders();
    reply.on("error", () => outgoing.destroy());
    reply.pipe(outgoing);
  });
  upstream.on("error", () => outgoing.destroy());
  outgoing.on("close", () => upstream.destroy());
  incoming.pipe(upstream);
}

/** Ends well after half of the body, as an edge does that has lost its other half. */
async function passHalf(reply: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  // A stream has no half.
  if (reply.headers["content-type"]?.startsWith("text/event-stream")) return void outgoing.destroy();
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { "content-length": _, ...headers } = reply.headers;
  outgoing.writeHead(reply.statusCode ?? 502, headers);
  outgoing.end(body.subarray(0, Math.floor(body.length / 2)));
}

export type BehindEdge = { edge: Edge; person: Person; leave: () => Promise<void> };

/** Somebody behind an edge, with the session of another person. */
export async function behindEdge({ browser, stack }: Fixture, other: Person): Promise<BehindEdge> {
  const edge = await startEdge(Number(new URL(stack.file().external_base_url).port));
  const person = await createPerson(browser, edge.proxyServer);
  await person.page.browserContext().setCookie(...(await other.page.browserContext().cookies()));
  return {
    edge,
    person,
    leave: async () => {
      const faults = person.faults();
      await person.leave();
      await edge.close();
      assert.deepEqual(faults, []);
    },
  };
}
