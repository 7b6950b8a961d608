// P1, P2 and P3 as docs/performance.md describes them: bare Fastify -> NATS -> another process, with zod in P2 and P3.
// `/list` collects 10,000 servers over the bus in pages of 1000, four at once, with zod: the anchor of a rebuild.

import { connect } from "@nats-io/transport-node";
import Fastify from "fastify";
import { need, serveParent } from "../harness/parent.ts";
import { Ask, Page, PageAsk, ServerInfo } from "./shapes.ts";

const pageSize = 1_000;
const pages = 10;
const atOnce = 4;

const nats = await connect({
  servers: need("ANCHOR_NATS_URL"),
  user: need("ANCHOR_NATS_USER"),
  pass: need("ANCHOR_NATS_PASSWORD"),
});
const app = Fastify({ logger: false });

app.get<{ Params: { name: string } }>("/p1/:name", async (request, reply) => {
  const answer = await nats.request("anchor.p1", JSON.stringify({ name: request.params.name }), {
    timeout: 10_000,
  });
  return reply.header("content-type", "application/json").send(answer.json());
});

for (const row of ["p2", "p3"] as const) {
  app.get<{ Params: { name: string } }>(`/${row}/:name`, async (request, reply) => {
    const input = Ask.parse({ name: request.params.name });
    const answer = await nats.request(`anchor.${row}`, JSON.stringify(input), { timeout: 10_000 });
    return reply.header("content-type", "application/json").send(ServerInfo.parse(answer.json()));
  });
}

async function collect(): Promise<unknown[]> {
  const found: unknown[][] = Array.from({ length: pages }, () => []);
  let next = 0;
  const worker = async () => {
    for (let page = next++; page < pages; page = next++) {
      const input = PageAsk.parse({ from: page * pageSize, count: pageSize });
      const answer = await nats.request("anchor.page", JSON.stringify(input), { timeout: 10_000 });
      found[page] = Page.parse(answer.json()).items;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return found.flat();
}

app.get("/list", async (_request, reply) => {
  const servers = await collect();
  return reply.header("content-type", "application/json").send(JSON.stringify({ servers }));
});

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
const port = typeof address === "object" && address ? address.port : 0;
serveParent({ port: () => port });
