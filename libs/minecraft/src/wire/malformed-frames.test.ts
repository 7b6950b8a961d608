import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { listen } from "../login/listen.ts";
import { string, ushort, varint } from "./bytes.ts";
import { Connection } from "./connection.ts";
import { decodeFrame, encodeFrame } from "./frame.ts";

const frame = (id: number, ...fields: Buffer[]) => encodeFrame(Buffer.concat([varint(id), ...fields]), -1);
const handshake = (intent: number, protocol = 769) =>
  frame(0, varint(protocol), string("localhost"), ushort(25_565), varint(intent));

type Row = { readonly bytes: Buffer; readonly code: string };
const hostile: Record<string, Row> = {
  "a giant length": { bytes: Buffer.from("ffffff7f", "hex"), code: "frame" },
  "a length above the limit before login": { bytes: varint(4_097), code: "frame" },
  "a negative length": { bytes: varint(-1), code: "frame" },
  "an empty frame": { bytes: Buffer.of(0), code: "frame" },
  "a VarInt of six bytes": { bytes: Buffer.concat([Buffer.of(7, 0), Buffer.alloc(6, 0x80)]), code: "frame" },
  "a packet cut off in its VarInt": { bytes: Buffer.of(2, 0, 0x80), code: "frame" },
  "a string longer than its packet": { bytes: frame(0, varint(769), varint(200)), code: "frame" },
  "a string with a negative length": { bytes: frame(0, varint(769), varint(-5)), code: "frame" },
  "a login before the handshake": { bytes: frame(3), code: "state" },
  "a handshake for the play state": { bytes: handshake(9), code: "state" },
  "a play packet in the login state": {
    bytes: Buffer.concat([handshake(2), frame(0x1c, Buffer.alloc(8))]),
    code: "state",
  },
  "a name with a line break": {
    bytes: Buffer.concat([handshake(2), frame(0, string("a\nb"), Buffer.alloc(16))]),
    code: "refused",
  },
  "a version nobody knows": { bytes: handshake(2, 1_000_000), code: "unsupported" },
  "a version older than the oldest": { bytes: handshake(2, 765), code: "unsupported" },
};

for (const [name, row] of Object.entries(hostile)) {
  for (const pieces of ["at once", "byte by byte"] as const) {
    test(`${name}, sent ${pieces}, is refused as ${row.code}`, async () => {
      const refused = Promise.withResolvers<string>();
      await using listener = await listen({
        port: 0,
        host: "127.0.0.1",
        trust: { kind: "offline" },
        status: () => ({ description: "", playersOnline: 0, playersMax: 0 }),
        onPlayer: () => assert.fail("nobody is let in"),
        onRefused: (fault) => refused.resolve(fault.code),
      });
      const socket = connect(listener.port, "127.0.0.1");
      socket.on("error", () => undefined);
      const closed = once(socket, "close");
      const chunks = pieces === "at once" ? [row.bytes] : [...row.bytes].map((byte) => Buffer.of(byte));
      for (const chunk of chunks) socket.write(chunk);
      socket.resume();
      assert.equal(await refused.promise, row.code);
      socket.end();
      await closed;
    });
  }
}

test("a connection that says nothing is closed when the login time is over", async () => {
  await using listener = await listen({
    port: 0,
    host: "127.0.0.1",
    loginTimeoutMs: 30,
    trust: { kind: "offline" },
    status: () => ({ description: "", playersOnline: 0, playersMax: 0 }),
    onPlayer: () => assert.fail("nobody is let in"),
  });
  const socket = connect(listener.port, "127.0.0.1");
  socket.resume();
  await once(socket, "close");
});

test("an address above its number of connections reads so or is closed, and may come back when one has gone", async () => {
  const refusals: string[] = [];
  await using listener = await listen({
    port: 0,
    host: "127.0.0.1",
    maxPerAddress: 1,
    trust: { kind: "offline" },
    status: () => ({ description: "", playersOnline: 0, playersMax: 0 }),
    onPlayer: () => undefined,
    onRefused: (fault) => refusals.push(fault.code),
  });
  const first = connect(listener.port, "127.0.0.1");
  await once(first, "connect");
  // One more reads why, whichever version it speaks; what only asks for the status, and everybody beyond, is closed.
  const second = new Connection(connect(listener.port, "127.0.0.1"));
  second.socket.write(Buffer.concat([handshake(2, 47), frame(0, string("alice"))]));
  assert.match((await second.next()).reader.string(), /already has 1 connections.*客户端/s);
  second.destroy();
  while (listener.connections > 1) await new Promise((resolve) => setImmediate(resolve));
  const [third, fourth] = [connect(listener.port, "127.0.0.1"), connect(listener.port, "127.0.0.1")];
  for (const socket of [third, fourth]) socket.on("error", () => undefined).resume();
  await once(fourth, "close");
  third.write(handshake(1));
  await once(third, "close");
  assert.deepEqual(refusals, ["busy", "busy", "busy"]);
  first.destroy();
  while (listener.connections > 0) await new Promise((resolve) => setImmediate(resolve));
  const again = connect(listener.port, "127.0.0.1");
  again.write(Buffer.concat([handshake(1), frame(0)]));
  const [answer] = (await once(again, "data")) as [Buffer];
  assert.match(answer.toString(), /playersMax|"max":0/);
  again.destroy();
});

const packed = (says: number, content: Buffer) => Buffer.concat([varint(says), deflateSync(content)]);
const bombs: Record<string, Buffer> = {
  "inflates to more than it says": packed(300, Buffer.alloc(2_000_000)),
  "inflates to less than it says": packed(3_000, Buffer.alloc(300)),
  "says it inflates beyond the limit": packed(8_388_609, Buffer.alloc(10)),
  "says it inflates to a negative size": packed(-2, Buffer.alloc(10)),
  "is not a deflate stream": Buffer.concat([varint(300), Buffer.from("garbage garbage")]),
  "stops in the middle": packed(3_000, Buffer.from("abc".repeat(1_000))).subarray(0, 10),
};
for (const [name, content] of Object.entries(bombs)) {
  test(`a compressed packet that ${name} is refused`, () => {
    assert.throws(() => decodeFrame(content, 256), { name: "MinecraftFault", code: "frame" });
  });
}

async function pair(): Promise<[Connection, Socket, Disposable]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object");
  const far = connect(address.port, "127.0.0.1");
  const [near] = (await once(server, "connection")) as [Socket];
  server.close();
  const end = () => {
    near.destroy();
    far.destroy();
  };
  return [new Connection(near), far, { [Symbol.dispose]: end }];
}

test("a frame of the largest size that comes in tiny chunks is read once it is whole", async () => {
  const [connection, far, end] = await pair();
  using _ = end;
  const body = Buffer.alloc(200_000, 7);
  const bytes = encodeFrame(body, -1);
  const read = connection.next();
  for (let offset = 0; offset < bytes.length; offset += 50) far.write(bytes.subarray(offset, offset + 50));
  assert.equal((await read).body.length, body.length);
});

test("packets keep their borders whatever the chunks, plain, compressed and encrypted", async () => {
  const bodies = [1, 5, 255, 256, 257, 5_000, 70_000].map((length) => Buffer.alloc(length, 1));
  for (const threshold of [-1, 0, 256]) {
    const [near, farSocket, end] = await pair();
    using _ = end;
    const far = new Connection(farSocket);
    const secret = Buffer.alloc(16, 9);
    for (const side of [near, far]) {
      side.encrypt(secret);
      side.threshold = threshold;
    }
    for (const body of bodies) far.sendBody(body);
    for (const body of bodies) assert(body.equals((await near.next()).body));
  }
});
