import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { writeChunk } from "./written.ts";

describe("a chunk that is written", () => {
  const server = createServer();
  let port = 0;
  before(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const answering = async (): Promise<{ response: ServerResponse; reader: Socket }> => {
    const asked = once(server, "request") as Promise<[IncomingMessage, ServerResponse]>;
    const reader = connect(port, "127.0.0.1").on("error", () => {});
    reader.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
    const [, response] = await asked;
    response.on("error", () => {});
    return { response, reader };
  };

  test("is on its way when the promise resolves, and leaves no listener", async () => {
    const { response, reader } = await answering();
    const listeners = response.listenerCount("close");
    for (let n = 0; n < 20; n++) await writeChunk(response, Buffer.alloc(1_000));
    assert.equal(response.listenerCount("close"), listeners);
    response.end();
    reader.destroy();
  });

  const losses: Record<string, (response: ServerResponse) => void> = {
    "its connection has been destroyed": ({ socket }) => void socket?.destroy(),
    "its connection has been reset": ({ socket }) => void socket?.resetAndDestroy(),
    "its answer has been destroyed": (response) => void response.destroy(),
  };
  for (const [when, lose] of Object.entries(losses))
    test(`fails when ${when}, just now or long ago`, { timeout: 10_000 }, async () => {
      const { response } = await answering();
      await writeChunk(response, Buffer.alloc(1_000));
      const closed = once(response, "close");
      lose(response);
      await assert.rejects(writeChunk(response, Buffer.alloc(1_000)));
      await closed;
      await assert.rejects(writeChunk(response, Buffer.alloc(1_000)));
    });

  test("fails when its reader goes while it waits for it", { timeout: 10_000 }, async () => {
    const { response, reader } = await answering();
    const flooding = assert.rejects(async () => {
      for (;;) await writeChunk(response, Buffer.alloc(1_000_000));
    });
    setTimeout(() => reader.destroy(), 50);
    await flooding;
  });

  test("fails when a request's connection is gone", { timeout: 10_000 }, async () => {
    const asking = request({ host: "127.0.0.1", port, method: "PUT" }).on("error", () => {});
    server.once("request", (_, response: ServerResponse) => void response.on("error", () => {}));
    await writeChunk(asking, Buffer.alloc(1_000));
    asking.socket?.destroy();
    await assert.rejects(writeChunk(asking, Buffer.alloc(1_000)));
  });
});
