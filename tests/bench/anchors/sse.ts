// Bare server-sent events: one Fastify process that writes each line to the viewers of its console. The lines are printed
// by the process itself, or come over one bus hop: a plain NATS subscription of the same client as ours.

import type { ServerResponse } from "node:http";
import { connect } from "@nats-io/transport-node";
import Fastify from "fastify";
import { type Pace, pace } from "../harness/line-rate.ts";
import { need, serveParent } from "../harness/parent.ts";

const prefix = "anchor.line.";
const viewers = new Map<string, Set<ServerResponse>>();
const app = Fastify({ logger: false });
app.get<{ Params: { name: string } }>("/console/:name", (request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream" });
  reply.raw.write(": open\n\n");
  const { name } = request.params;
  const watching = viewers.get(name) ?? new Set();
  viewers.set(name, watching.add(reply.raw));
  reply.raw.once("close", () => watching.delete(reply.raw));
});
await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
const port = typeof address === "object" && address ? address.port : 0;
const nats = await connect({
  servers: need("ANCHOR_NATS_URL"),
  user: need("ANCHOR_NATS_USER"),
  pass: need("ANCHOR_NATS_PASSWORD"),
});
nats.subscribe(`${prefix}*`, {
  callback: (error, message) => {
    if (error) throw error;
    show(message.subject.slice(prefix.length), message.string());
  },
});
await nats.flush();

function show(name: string, line: string): void {
  const event = Buffer.from(`id: ${Math.floor(Date.now() / 1_000)}\ndata: ${line}\n\n`);
  for (const viewer of viewers.get(name) ?? []) viewer.write(event);
}

serveParent({ port: () => port, print: (plan: Pace) => pace(plan, show) });
