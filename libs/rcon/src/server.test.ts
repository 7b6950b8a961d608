import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { connectRcon } from "./client.ts";
import { createPacketReader, encodePacket, type Packet } from "./packet.ts";
import { type RconServerOptions, startRconServer } from "./server.ts";

const host = "127.0.0.1";
const password = "s3cret";

async function start(options: Partial<RconServerOptions> = {}) {
  const server = await startRconServer({ port: 0, password, onCommand: (command) => command, ...options });
  return { ...server, [Symbol.asyncDispose]: server.close };
}

/** A client that checks nothing: writes what it is told, keeps what it gets. */
function rawClient(port: number) {
  const socket = connect({ host, port });
  const packets: Packet[] = [];
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of listeners) listener();
  };
  socket.on(
    "data",
    createPacketReader({ maxBodyBytes: 1 << 20, onPacket: (packet) => packets.push(packet) }),
  );
  socket.on("data", changed).on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const received = (count: number) =>
    new Promise<Packet[]>((resolve) => {
      const look = () => {
        if (packets.length < count) return;
        listeners.delete(look);
        resolve(packets);
      };
      listeners.add(look);
      look();
    });
  const send = (id: number, type: number, text: string) =>
    socket.write(encodePacket({ id, type, body: Buffer.from(text) }));
  return { socket, send, received, closed };
}

test("client and server agree on long, empty and unicode replies", async () => {
  const text = "漢".repeat(9_000);
  await using server = await start({
    onCommand: (command) => (command === "long" ? text : command.slice(4)),
  });
  await using client = await connectRcon({ host, port: server.port, password });
  assert.equal(await client.command("long"), text);
  assert.equal(await client.command("say "), "");
  assert.equal(await client.command("say ä🙂"), "ä🙂");
});

test("a reply is cut into frames of 4096 bytes", async () => {
  await using server = await start({ onCommand: () => "x".repeat(10_000) });
  const client = rawClient(server.port);
  client.send(1, 3, password);
  client.send(2, 2, "go");
  const packets = await client.received(4);
  assert.deepEqual(
    packets.map(({ id, type, body }) => [id, type, body.length]),
    [
      [1, 2, 0],
      [2, 0, 4096],
      [2, 0, 4096],
      [2, 0, 1808],
    ],
  );
  client.socket.destroy();
});

test("a request of another type is answered as unknown", async () => {
  await using server = await start();
  const client = rawClient(server.port);
  client.send(1, 3, password);
  client.send(2, 99, "");
  const packets = await client.received(2);
  assert.equal(packets[1]?.body.toString(), "Unknown request 63");
  client.socket.destroy();
});

test("a command before the password is refused, and the connection ends", async () => {
  const seen: string[] = [];
  const onCommand = (command: string) => {
    seen.push(command);
    return "";
  };
  await using server = await start({ onCommand });
  const client = rawClient(server.port);
  client.send(7, 2, "stop");
  const packets = await client.received(1);
  assert.equal(packets[0]?.id, -1);
  await client.closed;
  assert.deepEqual(seen, []);
});

test("commands of all connections run one at a time", async () => {
  let running = 0;
  let most = 0;
  const onCommand = async (command: string) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return command;
  };
  await using server = await start({ onCommand });
  await using one = await connectRcon({ host, port: server.port, password });
  await using two = await connectRcon({ host, port: server.port, password });
  const names = ["a", "b", "c", "d", "e", "f"];
  const replies = await Promise.all(names.map((name, index) => (index % 2 ? one : two).command(name)));
  assert.deepEqual(replies, names);
  assert.equal(most, 1);
});

test("a command that throws is answered with the reason", async () => {
  const onCommand = () => {
    throw new Error("the world is locked");
  };
  await using server = await start({ onCommand });
  await using client = await connectRcon({ host, port: server.port, password });
  assert.equal(await client.command("save-all"), "Error: the world is locked");
});

test("an address with too many wrong passwords is shut out, also with the right one", async () => {
  await using server = await start({ maxFailures: 3, failureDelayMs: 1 });
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(connectRcon({ host, port: server.port, password: "wrong" }), { code: "auth" });
  }
  await assert.rejects(connectRcon({ host, port: server.port, password }), { code: "closed" });
});

test("a connection above the limit is closed", async () => {
  await using server = await start({ maxConnections: 1 });
  await using first = await connectRcon({ host, port: server.port, password });
  await assert.rejects(connectRcon({ host, port: server.port, password }), { code: "closed" });
  assert.equal(await first.command("still here"), "still here");
});

for (const [name, length] of Object.entries({ huge: 0x7fffffff, negative: -1, "too small": 9 })) {
  test(`a frame of a ${name} length ends the connection`, async () => {
    await using server = await start();
    const client = rawClient(server.port);
    const header = Buffer.alloc(4);
    header.writeInt32LE(length);
    client.socket.write(header);
    await client.closed;
  });
}

test("a connection that never logs in is closed", async () => {
  await using server = await start({ loginTimeoutMs: 30 });
  const client = rawClient(server.port);
  await once(client.socket, "connect");
  await client.closed;
});

test("an empty password is refused at the start", async () => {
  await assert.rejects(startRconServer({ port: 0, password: "", onCommand: () => "" }), RangeError);
});

test("closing ends the connections that are open", async () => {
  const server = await start();
  await using client = await connectRcon({ host, port: server.port, password });
  await server.close();
  await server.close();
  await assert.rejects(client.command("list"), { code: "closed" });
});
