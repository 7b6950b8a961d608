import assert from "node:assert/strict";
import { test } from "node:test";
import { createPackets, largestPacket, ProtocolError } from "./packets.ts";
import { readRequest } from "./requests.ts";

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const text = (value: string | Buffer) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
};
const packet = (...parts: Buffer[]) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([uint32(content.length), content]);
};

test("packets are the same however the stream is cut", () => {
  const stream = Buffer.concat([
    packet(Buffer.from("a")),
    packet(Buffer.from("bcd")),
    packet(Buffer.from("ef")),
  ]);
  for (let size = 1; size <= stream.length; size++) {
    const take = createPackets();
    const seen: string[] = [];
    for (let at = 0; at < stream.length; at += size)
      seen.push(...take(stream.subarray(at, at + size)).map(String));
    assert.deepEqual(seen, ["a", "bcd", "ef"], `in pieces of ${size}`);
  }
});

test("a length that is impossible is refused before anything of it is kept", () => {
  for (const length of [0, largestPacket + 1, 2 ** 32 - 1])
    assert.throws(() => createPackets()(uint32(length)), ProtocolError);
  assert.equal(createPackets()(packet(Buffer.alloc(largestPacket)))[0]?.length, largestPacket);
});

const head = (type: number, id = 7) => [Buffer.of(type), uint32(id)];
const requestOf = (type: number, ...fields: Buffer[]) =>
  readRequest(Buffer.concat([...head(type), ...fields]));
const large = Buffer.from("ffffffffffffffff", "hex");

const requests: [fact: string, got: () => unknown, wanted: unknown][] = [
  ["a path", () => requestOf(17, text("/a b")), { kind: "stat", id: 7, path: "/a b" }],
  [
    "a type that is not known",
    () => requestOf(200, text("limits@openssh.com")),
    { kind: "unsupported", id: 7 },
  ],
  ["a path that is cut off", () => requestOf(17, uint32(9), Buffer.from("x")), bad("the request is cut off")],
  ["a path that claims 4 GiB", () => requestOf(17, uint32(2 ** 32 - 1)), bad("the request is cut off")],
  ["a path that is too long", () => requestOf(17, text("x".repeat(4_097))), bad("the path is too long")],
  ["a path that is no text", () => requestOf(17, text(Buffer.of(0xff))), bad("the path is not valid UTF-8")],
  ["a handle that is too long", () => requestOf(4, text("x".repeat(257))), bad("the handle is too long")],
  [
    "an offset that is too large",
    () => requestOf(5, text("h"), large, uint32(1)),
    bad("the number is too large"),
  ],
  [
    "attributes with everything in them",
    () => requestOf(9, text("/a"), uint32(15), Buffer.alloc(7), Buffer.of(5), Buffer.alloc(20)),
    { kind: "setstat", id: 7, path: "/a", attributes: { size: 5 } },
  ],
];
function bad(why: string) {
  return { kind: "bad", id: 7, why };
}
for (const [fact, got, wanted] of requests) test(`${fact} is read`, () => assert.deepEqual(got(), wanted));

test("a packet without an id cannot be answered", () => {
  for (const bytes of [Buffer.of(), Buffer.of(17), Buffer.of(17, 0, 0, 0)])
    assert.throws(() => readRequest(bytes), ProtocolError);
});
