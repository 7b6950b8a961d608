import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { defaultCacheDirs, findDockerRegistry } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { type Fixture, startFixture } from "./testing/fixture.ts";

const repo = resolve(import.meta.dirname, "../../..");
let gate: Fixture;

before(async () => {
  const cacheDirs = defaultCacheDirs(process.env, repo);
  gate = await startFixture(
    await findDockerRegistry({ env: process.env, cacheDirs, progress: () => undefined }),
  );
});
after(() => gate?.stop());

test("one address that opens every connection it can leaves room for the nodes", async () => {
  const port = Number(gate.host().split(":")[1]);
  const open = new Set(
    Array.from({ length: 1_100 }, () => connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" })),
  );
  for (const socket of open) {
    socket.on("error", () => undefined).once("close", () => open.delete(socket));
    socket.write("GET /v2/_catalog HTTP/1.1\r\nHost: x\r\n");
  }
  await until(() => open.size <= 256);
  assert.equal((await gate.call("GET", "/v2/_catalog")).status, 200);
  // What was given up counts no more.
  const closing = [...open].map((socket) => once(socket, "close"));
  for (const socket of open) socket.destroy();
  await Promise.all(closing);
  await until(async () => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
    socket
      .on("error", () => undefined)
      .write("GET /v2/_catalog HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    const [first] = (await Promise.race([once(socket, "data"), once(socket, "close")])) as [unknown];
    socket.destroy();
    return String(first).startsWith("HTTP/1.1 200");
  });
});
