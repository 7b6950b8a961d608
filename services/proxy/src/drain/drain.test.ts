import assert from "node:assert/strict";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { runningAt, startFixture } from "../testing/fixture.ts";
import { begin } from "../testing/raw-player.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const elsewhere = "other.example";

async function twoProxies() {
  const fixture = await startFixture(
    { SVC_PROXY_COOKIE_MS: "100" },
    { prepare: ({ service, survival }) => service.servers.set("survival", runningAt("survival", survival)) },
  );
  const other = await fixture.startAnother();
  await fixture.restart({ SVC_PROXY_TRANSFER_TO: `${elsewhere}:${other.port}` });
  return { fixture, other };
}

test(
  "a player whose proxy stops gets back to their server through the gate of the other proxy",
  limit,
  async () => {
    const { fixture, other } = await twoProxies();
    await using _ = fixture;
    const alice = fixture.account("alice");
    const before = await fixture.passRaw(alice, host);
    await fixture.survival.player("alice");
    await before.until(() => before.state.phase === "play" && before.state.worlds === 2);
    const closing = fixture.proxy.close();
    const to = await before.until(() => before.state.transfer);
    assert.deepEqual(to, { host: elsewhere, port: other.port });
    await before.leave();
    await closing;
    await fixture.survival.until(() => !fixture.survival.players.has("alice"));

    const [port, intent] = [other.port, 3] as const;
    const after = await fixture.passRaw(alice, elsewhere, { port, intent, cookies: before.cookies });
    const session = await fixture.survival.player("alice");
    assert.equal(session.player.profile.uuid, alice.uuid);
    await after.leave();

    // The ticket is the player's own: it takes nobody else anywhere, and a client without one waits for nothing.
    for (const [name, cookies] of [["mallory", before.cookies] as const, ["bob", new Map()] as const]) {
      await fixture.passRaw(fixture.account(name), elsewhere, { port, intent, cookies });
      await fixture.lobby.player(name);
    }
    assert.equal(fixture.survival.players.has("mallory"), false);
  },
);

test("a ticket takes an unlinked player no further than the other gate", limit, async () => {
  const { fixture, other } = await twoProxies();
  await using _ = fixture;
  const alice = fixture.account("alice");
  const before = await fixture.passRaw(alice, host);
  await fixture.survival.player("alice");
  const closing = fixture.proxy.close();
  await before.until(() => before.state.transfer);
  await before.leave();
  await closing;
  fixture.service.linked.delete(alice.uuid);
  const after = await fixture.passRaw(alice, elsewhere, {
    port: other.port,
    intent: 3,
    cookies: before.cookies,
  });
  await after.until(() => after.seen.includes("play system_chat"));
  assert.deepEqual([fixture.gate.players.has("alice"), fixture.survival.players.has("alice")], [true, false]);
});

test(
  "a player who logs in while the proxy stops is transferred at once, and disconnected if they stay",
  limit,
  async () => {
    const { fixture } = await twoProxies();
    await using _ = fixture;
    await fixture.restart({ SVC_PROXY_TRANSFER_TO: `${elsewhere}:25565`, SVC_PROXY_DRAIN_MS: "300" });
    const stayer = await fixture.raw(fixture.account("stayer"), host);
    await fixture.gate.player("stayer");
    const late = fixture.account("late");
    const { connection, secret, answer, hash } = await begin({
      port: fixture.proxy.port,
      host,
      account: late,
    });
    const closing = fixture.proxy.close();
    await stayer.until(() => stayer.state.transfer);
    fixture.service.joined.set(hash, late);
    connection.send(1, answer);
    connection.encrypt(secret);
    for (let packet = await connection.next(); packet.id !== 2; packet = await connection.next())
      if (packet.id === 3) connection.threshold = packet.reader.varint();
    connection.send(3);
    const [storeCookie, transfer] = [0x0a, 0x0b];
    assert.deepEqual([(await connection.next()).id, (await connection.next()).id], [storeCookie, transfer]);
    connection.destroy();
    await stayer.until(() => stayer.state.isClosed);
    assert(stayer.seen.some((packet) => packet.endsWith("disconnect")));
    await closing;
  },
);
