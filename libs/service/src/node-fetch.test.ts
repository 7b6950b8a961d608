import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { type TestContext, test } from "node:test";
import { createNodeFetch } from "./node-fetch.ts";

async function serve(t: TestContext, answer: RequestListener) {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function createFetch(t: TestContext, options: { connections: number; connectTimeoutMs?: number }) {
  const calls = createNodeFetch(options);
  t.after(() => calls.destroy());
  return calls;
}

test("a call sends its body, and its answer has status, headers and text", async (t) => {
  const { url } = await serve(t, (request, response) => {
    response.writeHead(201, { "x-request-id": "r1" });
    request.pipe(response);
  });
  const { fetch } = createFetch(t, { connections: 1 });
  const answer = await fetch(url, { method: "POST", body: '{"name":"survival"}' });
  assert.deepEqual([answer.status, answer.ok, answer.headers.get("X-Request-Id")], [201, true, "r1"]);
  assert.equal(answer.headers.get("retry-after"), null);
  assert.deepEqual(await answer.json(), { name: "survival" });
});

test("an aborted call rejects with the reason of its signal, before and during the answer", async (t) => {
  const { url } = await serve(t, (request, response) => {
    if (request.url === "/half") response.write("half");
  });
  const { fetch } = createFetch(t, { connections: 1 });
  for (const path of ["/none", "/half"])
    await assert.rejects(fetch(`${url}${path}`, { signal: AbortSignal.timeout(50) }), {
      name: "TimeoutError",
    });
  await assert.rejects(fetch(url, { signal: AbortSignal.abort(new Error("late")) }), /late/);
});

test("a close waits for the calls that are under way and leaves no connection", async (t) => {
  const held = Promise.withResolvers<() => void>();
  const { server, url } = await serve(t, (_, response) => held.resolve(() => response.end("done")));
  const { fetch, close } = createFetch(t, { connections: 1 });
  const answer = fetch(url);
  const release = await held.promise;
  const closed = close();
  release();
  assert.equal(await (await answer).text(), "done");
  await closed;
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  while ((await connections()) > 0) await new Promise((wake) => setImmediate(wake));
});

const deafServer = `
  const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    console.log(server.address().port);
  });`;

test("a server that accepts no connection is given up after the time to connect", async (t) => {
  const child = spawn(process.execPath, ["-e", deafServer], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = await once(child.stdout, "data");
  const port = Number(String(line));
  child.kill("SIGSTOP");
  const queued = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
  t.after(async () => {
    for (const socket of queued) socket.destroy();
    child.kill("SIGKILL");
    await exited;
  });
  await once(queued[0] as (typeof queued)[number], "connect");
  const { fetch } = createFetch(t, { connections: 1, connectTimeoutMs: 100 });
  await assert.rejects(fetch(`http://127.0.0.1:${port}`), { code: "ETIMEDOUT" });
});
