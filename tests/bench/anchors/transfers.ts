// Bare transfers: one Fastify process that hashes a body into a file, and hashes a file out of it, in 1 MiB steps; and
// puts parts together as one synced file.

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import Fastify from "fastify";
import { need, serveParent } from "../harness/parent.ts";

const base = need("BENCH_BASE");
const highWaterMark = 1 << 20;
const app = Fastify({ logger: false, bodyLimit: 1 << 30 });
app.addContentTypeParser("application/octet-stream", (_request, payload, done) => done(null, payload));

async function* hashed(source: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>) {
  for await (const chunk of source) {
    hash.update(chunk);
    yield chunk;
  }
}

app.put<{ Params: { name: string }; Body: Readable }>("/files/:name", async (request) => {
  const hash = createHash("sha256");
  const file = createWriteStream(join(base, request.params.name), { highWaterMark });
  await pipeline(hashed(request.body, hash), file);
  return { sha256: hash.digest("hex") };
});
app.get<{ Params: { name: string } }>("/files/:name", async (request, reply) => {
  const path = join(base, request.params.name);
  const file = createReadStream(path, { highWaterMark });
  reply.header("content-type", "application/octet-stream").header("content-length", (await stat(path)).size);
  return reply.send(file.compose((source: AsyncIterable<Buffer>) => hashed(source, createHash("sha256"))));
});
await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();

async function assemble(parts: number): Promise<void> {
  await using whole = await open(join(base, "whole"), "w");
  for (let index = 0; index < parts; index += 1) {
    for await (const chunk of createReadStream(join(base, `part-${index}`), { highWaterMark }))
      await whole.writeFile(chunk as Buffer);
  }
  await whole.sync();
}

serveParent({ assemble, port: () => (typeof address === "object" && address ? address.port : 0) });
