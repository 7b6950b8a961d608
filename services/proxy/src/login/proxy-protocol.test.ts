import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { startFixture } from "../testing/fixture.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const trusting = {
  SVC_PROXY_ACCEPT_PROXY_PROTOCOL: "true",
  SVC_PROXY_TRUSTED_PROXIES: "127.0.0.1",
  SVC_PROXY_CONNECTIONS_PER_ADDRESS: "2",
};

/** A PROXY v2 header of a player at this IPv4 address. */
function headerOf(address: string): Buffer {
  const start = Buffer.from("0d0a0d0a000d0a515549540a2111000c", "hex");
  const source = Buffer.from(address.split(".").map(Number));
  return Buffer.concat([start, source, Buffer.of(127, 0, 0, 1, 0x30, 0x39, 0x63, 0xdd)]);
}

/** Sends these bytes from a loopback address and waits for the end of the connection. */
async function closes(port: number, bytes: Buffer, from = "127.0.0.1"): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  socket.on("error", () => {});
  socket.write(bytes);
  socket.resume();
  await once(socket, "close");
}

test("a player behind a load balancer has their own address everywhere, and its limit", limit, async () => {
  await using fixture = await startFixture(trusting);
  const joinFrom = async (name: string, address: string) => {
    await fixture.raw(fixture.account(name), host, { preamble: headerOf(address) });
    return (await fixture.gate.player(name)).player.address;
  };
  assert.equal(await joinFrom("alice", "203.0.113.9"), "203.0.113.9");
  assert.equal(await joinFrom("bob", "203.0.113.9"), "203.0.113.9");
  // One above the limit that asks for the status; who logs in reads why.
  const ask = Buffer.from("0700810600000001", "hex");
  await closes(fixture.proxy.port, Buffer.concat([headerOf("203.0.113.9"), ask]));
  assert.equal(await joinFrom("carol", "203.0.113.10"), "203.0.113.10");
});

test("a header of version 1 counts as well", limit, async () => {
  await using fixture = await startFixture(trusting);
  const preamble = Buffer.from("PROXY TCP4 203.0.113.9 127.0.0.1 1 2\r\n");
  await fixture.raw(fixture.account("alice"), host, { preamble });
  assert.equal((await fixture.gate.player("alice")).player.address, "203.0.113.9");
});

test(
  "a PROXY header from an untrusted peer, and a trusted peer without one, are refused",
  limit,
  async () => {
    await using fixture = await startFixture(trusting);
    await closes(fixture.proxy.port, headerOf("203.0.113.9"), "127.0.0.2");
    await closes(fixture.proxy.port, Buffer.from("0700810600000002", "hex"));
    await closes(fixture.proxy.port, Buffer.from("PROXY TCP4 somewhere 127.0.0.1 1 2\r\n"));
    const text = await fixture.metrics.metrics();
    assert.match(text, /svc_proxy_connections_refused_total\{[^}]*reason="unauthenticated"[^}]*\} 1\n/);
    assert.match(text, /svc_proxy_connections_refused_total\{[^}]*reason="frame"[^}]*\} 2\n/);
  },
);

test("servers that want to hear the player's address by a header get one each", limit, async () => {
  await using fixture = await startFixture(
    { SVC_PROXY_SEND_PROXY_PROTOCOL: "true" },
    { proxyProtocol: true },
  );
  await fixture.passRaw(fixture.account("alice"), "play.example");
  assert.equal((await fixture.lobby.player("alice")).player.address, "127.0.0.1");
});

test("a proxy without trusted peers treats a PROXY header as garbage", limit, async () => {
  await using fixture = await startFixture();
  await closes(fixture.proxy.port, headerOf("203.0.113.9"));
});
