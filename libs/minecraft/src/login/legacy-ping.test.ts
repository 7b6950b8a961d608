import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { supportedRange } from "../version/catalog.ts";
import { decodeLegacyPing } from "./legacy-ping.ts";
import { type Listener, listen } from "./listen.ts";

let listener: Listener;
const hosts: string[] = [];
before(async () => {
  listener = await listen({
    ...{ port: 0, host: "127.0.0.1", trust: { kind: "offline" } },
    status: ({ host }) => {
      hosts.push(host);
      return { description: { text: "asleep\n", extra: ["§cnow"] }, playersOnline: 2, playersMax: 20 };
    },
    onPlayer: () => assert.fail("nobody is let in"),
  });
});
after(() => listener.close());

const utf16 = (text: string) => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, Buffer.from(text, "utf16le").swap16()]);
};
function pingOf16(host: string): Buffer {
  const fields = Buffer.concat([Buffer.of(74), utf16(host), Buffer.of(0, 0, 0x63, 0xdd)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(fields.length);
  return Buffer.concat([Buffer.of(0xfe, 0x01, 0xfa), utf16("MC|PingHost"), length, fields]);
}

/** What the old client reads, by the fields of the kick. */
async function answerTo(chunks: readonly Buffer[], separator: string): Promise<string[]> {
  const socket = connect(listener.port, "127.0.0.1");
  const parts: Buffer[] = [];
  socket.on("data", (bytes: Buffer) => parts.push(bytes));
  const ended = once(socket, "end");
  for (const chunk of chunks) await new Promise((resolve) => socket.write(chunk, resolve));
  await ended;
  socket.destroy();
  const bytes = Buffer.concat(parts);
  assert.equal(bytes[0], 0xff);
  const text = Buffer.from(bytes.subarray(3)).swap16().toString("utf16le");
  assert.equal(bytes.readUInt16BE(1), text.length);
  return text.split(separator);
}

const full = ["§1", "127", supportedRange, "asleep now", "2", "20"];
test("a client of 1.4 or 1.5 reads version, words and count", async () => {
  assert.deepEqual(await answerTo([Buffer.of(0xfe, 0x01)], "\0"), full);
});

test("a client of 1.6 does too, for the host that it typed, in however many pieces it asks", async () => {
  const ping = pingOf16("Survival.play.example.");
  assert.deepEqual(await answerTo([ping], "\0"), full);
  assert.equal(hosts.at(-1), "survival.play.example");
  const bytes = [...ping].map((byte) => Buffer.of(byte));
  assert.deepEqual(await answerTo(bytes, "\0"), full);
  assert.equal(hosts.at(-1), "survival.play.example");
});

test("a client before 1.4 reads words and count", async () => {
  assert.deepEqual(await answerTo([Buffer.of(0xfe)], "§"), ["asleep now", "2", "20"]);
});

test("a ping that lies about its lengths is answered without a host, or is none, and never waits for more", () => {
  for (const lie of [
    Buffer.from("fe01faffff", "hex"),
    Buffer.concat([Buffer.from("fe01fa", "hex"), utf16("MC|PingHost"), Buffer.of(0xff, 0xff)]),
    Buffer.concat([Buffer.from("fe01fa", "hex"), utf16("MC|PingHost"), Buffer.of(0, 1, 74)]),
  ]) {
    assert.equal(decodeLegacyPing(lie, true)?.ping?.host, "");
    const flood = Buffer.concat([lie, Buffer.alloc(2_000)]);
    assert.ok(decodeLegacyPing(flood, false)?.ping, lie.toString("hex"));
  }
});

test("a packet of today whose length begins with FE is not a ping", () => {
  for (const start of ["fe0100ff05", "fe02", "fe00", "00", "10"])
    assert.deepEqual(decodeLegacyPing(Buffer.from(start, "hex"), false), { length: 0 }, start);
});
