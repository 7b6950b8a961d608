// Malicious clients and servers, on real sockets.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { patience } from "@svc/local-stack/testing";
import type { Connection } from "@svc/minecraft";
import { until } from "@svc/minecraft/testing";
import { controlChannel, encodeControl } from "@svc/proto/control";
import { type Fixture, runningAt, startFixture } from "./testing/fixture.ts";
import { begin, bytesOf, type RawPlayer, text, varint } from "./testing/raw-player.ts";

const limit = { timeout: 60_000 * patience };
const host = "survival.play.example";
const withSurvival = {
  prepare: ({ service, survival }: Pick<Fixture, "service" | "survival">) =>
    void service.servers.set("survival", runningAt("survival", survival)),
};

async function isClosed(connection: Connection): Promise<void> {
  connection.listen(() => {});
  await connection.closed;
}

test(
  "an answer to another connection's encryption request, or a changed one, logs nobody in",
  limit,
  async () => {
    await using fixture = await startFixture({ SVC_PROXY_LOGIN_TIMEOUT_MS: "1000" });
    const alice = fixture.account("alice");
    const where = { port: fixture.proxy.port, host, account: alice };
    const overheard = await begin(where);
    fixture.service.joined.set(overheard.hash, alice);
    const wrong: Buffer[] = [
      overheard.answer,
      Buffer.concat([bytesOf(Buffer.alloc(128, 7)), bytesOf(Buffer.alloc(128, 7))]),
      Buffer.concat([bytesOf(Buffer.alloc(0)), bytesOf(Buffer.alloc(0))]),
      Buffer.concat([varint(1_000_000), Buffer.alloc(64)]),
    ];
    for (const answer of wrong) {
      const { connection } = await begin(where);
      connection.send(1, answer);
      await isClosed(connection);
    }
    // What was overheard is of no use to who does not know the secret either: the rest of the talk is encrypted.
    overheard.connection.send(1, overheard.answer);
    overheard.connection.send(3);
    await isClosed(overheard.connection);
    assert.equal(fixture.gate.players.size, 0);
  },
);

test("a client that sends byte by byte is closed when the login timeout ends", limit, async () => {
  await using fixture = await startFixture({ SVC_PROXY_LOGIN_TIMEOUT_MS: "200" });
  const socket = connect(fixture.proxy.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.resume();
  // Not `once` of node:events: it rejects at the reset that a write into a closed connection meets.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const bytes = [16, 0, 0x81, 6];
  const timer = setInterval(() => void socket.write(Buffer.of(bytes.shift() ?? 9)), 10);
  await closed;
  clearInterval(timer);
  // On a busy machine the time may be over before the first answer.
  const silent = begin({ port: fixture.proxy.port, host, account: fixture.account("alice") });
  await silent.then(
    ({ connection }) => isClosed(connection),
    (error: unknown) => assert.match(String(error), /closed|ECONNRESET/),
  );
  assert.equal(fixture.gate.players.size, 0);
});

const packed = (says: number, bytes: Buffer) => {
  const content = Buffer.concat([varint(says), deflateSync(bytes)]);
  return Buffer.concat([varint(content.length), content]);
};
const forged = encodeControl({ type: "WakeRequest", player: null, server: "survival" });
const payload = ({ version }: RawPlayer, size: number) => {
  const id = varint(version.play.toServer.id("custom_payload"));
  return Buffer.concat([id, text(controlChannel), forged, Buffer.alloc(size, 0x20)]);
};
/** What a player in the lobby sends; each costs them their connection. */
const rude: Record<string, (player: RawPlayer) => Buffer> = {
  "a giant length": () => Buffer.from("ffffff7f", "hex"),
  "an empty frame": () => Buffer.of(0),
  "a frame that is not a deflate stream": () =>
    Buffer.concat([varint(40), varint(5_000), Buffer.alloc(38, 0xee)]),
  "a bomb in a packet that is looked at": (player) => packed(1_000_000, payload(player, 1_000_000 - 64)),
  "a bomb that says it is small": (player) => packed(600, payload(player, 2_000_000)),
  "a bomb that says it is larger than any packet": (player) => packed(8_000_000, payload(player, 7_900_000)),
  "an answer to a change of phase that nobody asked for": ({ version }) =>
    Buffer.of(2, 0, version.play.toServer.id("configuration_acknowledged")),
  "a command longer than any": ({ version }) =>
    packed(
      100_000,
      Buffer.concat([varint(version.play.toServer.id("chat_command")), text("x".repeat(99_996))]),
    ),
};

test("a hostile frame in the game closes its own connection and nobody else's", limit, async (t) => {
  await using fixture = await startFixture({ SVC_PROXY_CONNECTIONS_PER_ADDRESS: "64" }, withSurvival);
  const witness = await fixture.passRaw(fixture.account("witness"), "play.example");
  await fixture.lobby.player("witness");
  for (const [name, bytesFor] of Object.entries(rude)) {
    await t.test(name, limit, async () => {
      const mallory = await fixture.passRaw(fixture.account("mallory"), "play.example");
      await fixture.lobby.player("mallory");
      await mallory.until(() => mallory.state.worlds === 2);
      mallory.connection.write(bytesFor(mallory));
      await mallory.until(() => mallory.state.isClosed);
      await fixture.lobby.until(() => !fixture.lobby.players.has("mallory"));
    });
  }
  witness.command("felis go survival");
  await fixture.survival.player("witness");
  assert.deepEqual(fixture.lobby.frames, []);
});

test(
  "a client's svc:control frames reach no server, in either phase and however they are padded",
  limit,
  async () => {
    await using fixture = await startFixture({}, withSurvival);
    const mallory = await fixture.raw(fixture.account("mallory"), host);
    const { connection, version } = mallory;
    connection.send(version.configuration.toServer.id("custom_payload"), text(controlChannel), forged);
    await fixture.release({ name: "mallory", uuid: "" });
    await fixture.survival.player("mallory");
    await mallory.until(() => mallory.state.worlds === 2);
    for (const size of [0, 300, 60_000])
      connection.write(packed(payload(mallory, size).length, payload(mallory, size)));
    mallory.send("custom_payload", text("test:end"));
    await fixture.survival.until(() =>
      fixture.survival.messages.some(({ channel }) => channel === "test:end"),
    );
    const heard = [...fixture.gate.messages, ...fixture.survival.messages].map(({ channel }) => channel);
    assert.deepEqual(heard, ["test:end"]);
    assert(!fixture.service.calls.some((call) => call.includes("/wake")));
  },
);

test("a server can neither transfer players nor use our cookies, but can use its own", limit, async () => {
  await using fixture = await startFixture({}, withSurvival);
  const cookies = new Map([["svc:ticket", Buffer.from("ours")]]);
  const alice = await fixture.passRaw(fixture.account("alice"), host, { cookies });
  const survival = await fixture.survival.player("alice");
  await alice.until(() => alice.state.worlds === 2);
  survival.transfer({ host: "evil.example", port: 25_565 });
  survival.storeCookie("svc:ticket", Buffer.from("forged"));
  survival.storeCookie("svc:ticket", Buffer.alloc(5_120));
  survival.requestCookie("svc:ticket");
  survival.storeCookie("theirs:note", Buffer.from("kept"));
  survival.message("the end");
  await alice.until(() => alice.seen.includes("play system_chat"));
  assert.equal(alice.state.transfer, undefined);
  assert(!alice.seen.includes("play cookie_request"));
  assert.deepEqual(
    [...cookies].map(([key, value]) => [key, value.toString()]),
    [
      ["svc:ticket", "ours"],
      ["theirs:note", "kept"],
    ],
  );
});

test("an operator may allow servers to transfer players", limit, async () => {
  await using fixture = await startFixture({ SVC_PROXY_SERVER_TRANSFERS: "true" }, withSurvival);
  const alice = await fixture.passRaw(fixture.account("alice"), host);
  (await fixture.survival.player("alice")).transfer({ host: "next.example", port: 1 });
  assert.deepEqual(await alice.until(() => alice.state.transfer), { host: "next.example", port: 1 });
});

test(
  "packs, links and report details of a server do not follow the player to the next one",
  limit,
  async () => {
    await using fixture = await startFixture({}, withSurvival);
    const alice = await fixture.passRaw(fixture.account("alice"), host);
    await fixture.survival.player("alice");
    await alice.until(() => alice.state.worlds === 2);
    alice.command("felis lobby");
    await fixture.lobby.player("alice");
    await alice.until(() => alice.state.worlds === 3);
    const start = alice.seen.lastIndexOf("play start_configuration");
    assert.deepEqual(alice.seen.slice(start, start + 4), [
      "play start_configuration",
      "configuration remove_resource_pack",
      "configuration server_links",
      "configuration custom_report_details",
    ]);
  },
);

test(
  "a server that begins a configuration and dies leaves the next server a client in the right phase",
  limit,
  async () => {
    await using fixture = await startFixture({}, withSurvival);
    const alice = await fixture.passRaw(fixture.account("alice"), host);
    const survival = await fixture.survival.player("alice");
    await alice.until(() => alice.state.worlds === 2);
    const answer = alice.answers["start_configuration"];
    alice.answers["start_configuration"] = undefined;
    const { connection, version } = survival.player;
    connection.send(version.play.toClient.id("start_configuration"));
    await alice.until(() => alice.seen.includes("play start_configuration"));
    connection.destroy();
    await until(() => fixture.lobby.connections === 1);
    // Only now the client leaves the world of the dead server, with a last word to it.
    alice.send("custom_payload", text("test:late"));
    answer?.({} as never);
    await fixture.lobby.player("alice");
    await alice.until(() => alice.state.worlds === 3);
    alice.send("custom_payload", text("test:lobby"));
    await fixture.lobby.until(() => fixture.lobby.messages.some(({ channel }) => channel === "test:lobby"));
    assert.deepEqual(
      fixture.lobby.messages.map(({ channel }) => channel),
      ["test:lobby"],
    );
  },
);

test(
  "an answer for the menu is not sent to the server that the player went to meanwhile",
  limit,
  async () => {
    await using fixture = await startFixture({}, withSurvival);
    const { promise: later, resolve: tellNow } = Promise.withResolvers<void>();
    fixture.service.answers.set("lifecycle.ownership.read-menu-access", async () => {
      await later;
      return { status: 200, body: { servers: { survival: "owner" } } };
    });
    const alice = await fixture.passRaw(fixture.account("alice"), "play.example");
    await fixture.lobby.player("alice");
    fixture.lobby.send("alice", { type: "ListRequest" });
    await fixture.service.until(() => fixture.service.calls.some((call) => call.includes("/menu-access/")));
    alice.command("felis go survival");
    await fixture.survival.player("alice");
    await alice.until(() => alice.state.worlds === 3);
    tellNow();
    alice.command("felis lobby");
    await alice.until(() => alice.state.worlds === 4);
    assert.deepEqual(fixture.survival.messages, []);
  },
);

test("frames of the lobby are ignored for players who are not released", limit, async () => {
  // The lobby's own address in place of the gate's: whoever stands there has proved nothing.
  await using fixture = await startFixture({}, withSurvival);
  fixture.service.servers.set("login", runningAt("login", fixture.lobby));
  await fixture.restart();
  const mallory = await fixture.raw(fixture.account("mallory", { isLinked: false }), host);
  await fixture.lobby.player("mallory");
  for (const type of ["WakeRequest", "ClaimRequest"] as const)
    fixture.lobby.send("mallory", { type, player: null, server: "survival" });
  fixture.lobby.send("mallory", { type: "LoginRelease", player: null });
  await mallory.until(() => mallory.seen.includes("play system_chat"));
  assert(!fixture.service.calls.some((call) => /wake|claim/.test(call)));
});
