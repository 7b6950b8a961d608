// Bare Fastify lists: bytes kept in memory with an ETag (the kept-bytes and the 304 anchor), and a page of 100 that is
// cut and encoded for every request (the page anchor).

import { createHash } from "node:crypto";
import Fastify from "fastify";
import { serveParent } from "../harness/parent.ts";
import { makeServers } from "./servers.ts";

const pageSize = 100;
const servers = makeServers(10_000);
const kept = Buffer.from(JSON.stringify({ servers }));
const tag = `"${createHash("sha256").update(kept).digest("base64url").slice(0, 27)}"`;
const app = Fastify({ logger: false });

app.get("/kept", (request, reply) => {
  reply.header("etag", tag);
  if (request.headers["if-none-match"] === tag) return reply.code(304).send();
  return reply.header("content-type", "application/json").send(kept);
});

app.get<{ Querystring: { from?: string } }>("/page", (request, reply) => {
  const from = Number(request.query.from ?? 5_000);
  const items = servers.slice(from, from + pageSize);
  return reply
    .header("content-type", "application/json")
    .send(JSON.stringify({ items, next: from + pageSize }));
});

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
const port = typeof address === "object" && address ? address.port : 0;
serveParent({ port: () => port, tag: () => tag, bytes: () => kept.length });
