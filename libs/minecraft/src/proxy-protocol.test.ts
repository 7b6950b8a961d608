import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeProxyHeader, encodeProxyHeader, plainAddress } from "./proxy-protocol.ts";

const to = { address: "10.0.0.1", port: 25_565 };
for (const address of ["203.0.113.9", "2001:db8::1", "::1", "fe80::1:2:3:4", "1:2:3:4:5:6:7:8"]) {
  test(`the header of ${address} is read back, and is not whole before its last byte`, () => {
    const header = encodeProxyHeader({ address, port: 4_711 }, to);
    assert.deepEqual(decodeProxyHeader(Buffer.concat([header, Buffer.from("next")])), {
      length: header.length,
      source: { address, port: 4_711 },
    });
    for (let length = 0; length < header.length; length++) {
      assert.equal(decodeProxyHeader(header.subarray(0, length)), undefined);
    }
  });
}

for (const [family, address] of [
  ["TCP4", "203.0.113.9"],
  ["TCP6", "2001:db8::1"],
] as const) {
  test(`a header of version 1 with ${address} is read, and is not whole before its last byte`, () => {
    const header = Buffer.from(`PROXY ${family} ${address} ${address} 4711 25565\r\n`);
    assert.deepEqual(decodeProxyHeader(Buffer.concat([header, Buffer.from("next")])), {
      length: header.length,
      source: { address, port: 4_711 },
    });
    for (let length = 0; length < header.length; length++)
      assert.equal(decodeProxyHeader(header.subarray(0, length)), undefined);
  });
}

test("a header of version 1 may name nobody", () => {
  assert.deepEqual(decodeProxyHeader(Buffer.from("PROXY UNKNOWN ffff::1 x\r\nnext")), { length: 25 });
});

test("a health check's header names nobody", () => {
  const header = Buffer.concat([encodeProxyHeader(to, to).subarray(0, 12), Buffer.from("20000000", "hex")]);
  assert.deepEqual(decodeProxyHeader(header), { length: 16 });
});

const good = encodeProxyHeader(to, to);
const patched = (offset: number, ...bytes: number[]) => {
  const header = Buffer.from(good);
  header.set(bytes, offset);
  return header;
};
const hostile: [string, Buffer][] = [
  ["no header", Buffer.from("\x10\0hello world, this is a handshake")],
  ["version 1 without an address", Buffer.from("PROXY TCP4\r\n")],
  ["version 1 of another family than its address", Buffer.from("PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n")],
  ["version 1 with a name for an address", Buffer.from("PROXY TCP4 localhost 5.6.7.8 1 2\r\n")],
  ["version 1 with a port too high", Buffer.from("PROXY TCP4 1.2.3.4 5.6.7.8 65536 2\r\n")],
  ["version 1 with a word too many", Buffer.from("PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n")],
  ["version 1 without an end", Buffer.from(`PROXY TCP4 ${"1".repeat(96)}`)],
  ["a word that is not a header", Buffer.from("POST / HTTP/1.1\r\n")],
  ["another version", patched(12, 0x31)],
  ["an unknown command", patched(12, 0x22)],
  ["a Unix socket", patched(13, 0x31)],
  ["UDP", patched(13, 0x12)],
  ["a giant length", patched(14, 0xff, 0xff)],
  ["a length too short for its addresses", patched(14, 0, 4)],
];
for (const [name, bytes] of hostile) {
  test(`${name} is refused`, () => assert.throws(() => decodeProxyHeader(bytes), { code: "frame" }));
}

test("an IPv4 address in IPv6 notation is written as IPv4", () => {
  for (const address of ["::ffff:1.2.3.4", "::ffff:102:304", "1.2.3.4"])
    assert.equal(plainAddress(address), "1.2.3.4");
  assert.equal(plainAddress("2001:db8::1"), "2001:db8::1");
});
