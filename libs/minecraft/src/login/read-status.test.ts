import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { string } from "../wire/bytes.ts";
import { Connection } from "../wire/connection.ts";
import { listen } from "./listen.ts";
import { readStatus } from "./read-status.ts";

/** A server that answers every question with this text. */
async function saying(text: string) {
  const server = createServer((socket) => {
    const connection = new Connection(socket);
    void connection
      .next()
      .then(() => connection.send(0, string(text)))
      .catch(() => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    backend: { name: "survival", host: "127.0.0.1", port, timeoutMs: 5_000 },
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  };
}

const asked = async (answer: unknown) => {
  await using server = await saying(typeof answer === "string" ? answer : JSON.stringify(answer));
  return await readStatus(server.backend, 769);
};

test("a server of ours is asked and tells version, count and players", async () => {
  const id = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
  await using listener = await listen({
    ...{ port: 0, host: "127.0.0.1", trust: { kind: "offline" } },
    status: () => ({ description: "", playersOnline: 2, playersMax: 5, sample: [{ name: "alice", id }] }),
    onPlayer: () => assert.fail("nobody is let in"),
  });
  const backend = { name: "survival", host: "127.0.0.1", port: listener.port };
  const { protocol, playersOnline, playersMax, sample } = await readStatus(backend, 774);
  assert.deepEqual(
    { protocol, playersOnline, playersMax, sample },
    { protocol: 774, playersOnline: 2, playersMax: 5, sample: [{ name: "alice", id }] },
  );
});

test("what a hostile server says is cut to what a list can show", async () => {
  const id = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
  const answer = await asked({
    version: { name: `§k\n${"x".repeat(500)}`, protocol: 769 },
    players: {
      ...{ online: -5, max: 1e30 },
      sample: [
        { name: "§4buy gold", id },
        ...Array.from({ length: 9 }, () => ({ name: "bob", id })),
        7,
        null,
      ],
    },
    favicon: `data:image/png;base64,${"A".repeat(30_000)}`,
  });
  assert.deepEqual(answer, {
    ...{ protocol: 769, versionName: "x".repeat(32), playersOnline: 0, playersMax: 0 },
    sample: Array.from({ length: 9 }, () => ({ name: "bob", id })),
    favicon: undefined,
  });
});

for (const [what, text] of Object.entries({
  "that is not JSON": "{",
  "without a version": "{}",
  "whose version is not a number": '{"version":{"protocol":"769"}}',
  "that is a number": "7",
})) {
  test(`a status ${what} is a fault`, async () => {
    await assert.rejects(asked(text), { code: "frame" });
  });
}

test("a port without a server is unavailable", async () => {
  const backend = await saying("").then(async (server) => {
    await server[Symbol.asyncDispose]();
    return server.backend;
  });
  await assert.rejects(readStatus(backend, 769), { code: "unavailable" });
});
