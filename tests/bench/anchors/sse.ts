// Bare server-sent events: one Fastify process that prints into its own open responses, nothing before or behind it.

import type { ServerResponse } from "node:http";
import Fastify from "fastify";
import { type Pace, pace } from "../harness/line-rate.ts";
import { serveParent } from "../harness/parent.ts";

const viewers = new Map<string, ServerResponse>();
const app = Fastify({ logger: false });
app.get<{ Params: { name: string } }>("/console/:name", (request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream" });
  reply.raw.write(": open\n\n");
  viewers.set(request.params.name, reply.raw);
});
await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
const port = typeof address === "object" && address ? address.port : 0;

serveParent({
  port: () => port,
  print: (plan: Pace) =>
    pace(plan, (name, line) => {
      viewers.get(name)?.write(`id: ${Math.floor(Date.now() / 1_000)}\ndata: ${line}\n\n`);
    }),
});
