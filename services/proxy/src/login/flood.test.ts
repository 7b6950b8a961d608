// Who logs in too often, or has too many connections, reads so; no session server is asked for them.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { Connection } from "@svc/minecraft";
import { startFixture } from "../testing/fixture.ts";
import { begin, protocol, text, varint } from "../testing/raw-player.ts";

const limit = { timeout: 60_000 * patience };
const host = "play.example";

/** What a client that wants to log in from this address reads first. */
async function firstWords(port: number, from: string, preamble = ""): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  socket.write(preamble);
  const connection = new Connection(socket);
  connection.send(0, varint(protocol), text(host), Buffer.of(0x63, 0xdd, 2));
  connection.send(0, text("mallory"), Buffer.alloc(16));
  const { id, reader } = await connection.next();
  connection.destroy();
  return id === 0 ? reader.string() : `packet ${id}`;
}

test(
  "an address that logs in too often reads when to retry, and the service is not asked",
  limit,
  async () => {
    await using fixture = await startFixture({
      SVC_PROXY_LOGIN_BURST: "3",
      SVC_PROXY_LOGIN_EVERY_MS: "60000",
    });
    const { port } = fixture.proxy;
    for (let count = 0; count < 3; count++) assert.equal(await firstWords(port, "127.0.0.1"), "packet 1");
    const asked = () => fixture.service.calls.filter((call) => call.includes("hasJoined")).length;
    const before = asked();
    for (let count = 0; count < 20; count++)
      assert.match(
        await firstWords(port, "127.0.0.1"),
        /Too many logins from your address.*(60|59) seconds.*重试/s,
      );
    assert.equal(asked(), before);
    assert.equal(await firstWords(port, "127.0.0.2"), "packet 1");
    assert.match(
      await fixture.metrics.metrics(),
      /svc_proxy_connections_refused_total\{[^}]*reason="busy"[^}]*\} 20\n/,
    );
  },
);

test(
  "the 17th connection of an address is refused with the reason, other addresses are not affected",
  limit,
  async () => {
    await using fixture = await startFixture();
    const where = { port: fixture.proxy.port, host, account: fixture.account("alice") };
    const waiting = await Promise.all(Array.from({ length: 16 }, () => begin(where)));
    assert.match(await firstWords(where.port, "127.0.0.1"), /already has 16 connections.*客户端/s);
    assert.equal(await firstWords(where.port, "127.0.0.2"), "packet 1");
    for (const { connection } of waiting) connection.destroy();
  },
);

test("logins from one IPv6 network share a budget, another network has its own", limit, async () => {
  await using fixture = await startFixture({
    SVC_PROXY_LOGIN_BURST: "2",
    SVC_PROXY_LOGIN_EVERY_MS: "60000",
    SVC_PROXY_ACCEPT_PROXY_PROTOCOL: "true",
    SVC_PROXY_TRUSTED_PROXIES: "127.0.0.1",
  });
  const from = (address: string) =>
    firstWords(fixture.proxy.port, "127.0.0.1", `PROXY TCP6 ${address} ::1 1 2\r\n`);
  assert.equal(await from("2001:db8:0:1::a"), "packet 1");
  assert.equal(await from("2001:db8:0:1:ffff::b"), "packet 1");
  assert.match(await from("2001:db8:0:1::c"), /Too many logins from your address/);
  assert.equal(await from("2001:db8:0:2::a"), "packet 1");
});
