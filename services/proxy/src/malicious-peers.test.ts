// Clients and servers that mean harm, on real sockets.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { type Connection, controlChannel, encodeControl } from "@svc/minecraft";
import { until } from "@svc/minecraft/testing";
import { type Bed, runningAt, startBed } from "./testing/fixture.ts";
import { begin, bytesOf, type RawPlayer, text, varint } from "./testing/raw-player.ts";

const limit = { timeout: 60_000 };
const host = "survival.play.example";
const withSurvival = {
  prepare: ({ service, survival }: Pick<Bed, "service" | "survival">) =>
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
    await using bed = await startBed({ SVC_PROXY_LOGIN_TIMEOUT_MS: "1000" });
    const alice = bed.account("alice");
    const where = { port: bed.proxy.port, host, account: alice };
    const overheard = await begin(where);
    bed.service.joined.set(overheard.hash, alice);
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
    assert.equal(bed.gate.players.size, 0);
  },
);

test("who trickles is closed when the login time is over, whatever they are at", limit, async () => {
  await using bed = await startBed({ SVC_PROXY_LOGIN_TIMEOUT_MS: "200" });
  const socket = connect(bed.proxy.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.resume();
  // Not `once` of node:events: it rejects at the reset that a write into a closed connection meets.
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const bytes = [16, 0, 0x81, 6];
  const timer = setInterval(() => void socket.write(Buffer.of(bytes.shift() ?? 9)), 10);
  await closed;
  clearInterval(timer);
  // On a busy machine the time may be over before the first answer.
  const silent = begin({ port: bed.proxy.port, host, account: bed.account("alice") });
  await silent.then(
    ({ connection }) => isClosed(connection),
    (error: unknown) => assert.match(String(error), /closed|ECONNRESET/),
  );
  assert.equal(bed.gate.players.size, 0);
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
  "a frame that is no deflate stream": () =>
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
  await using bed = await startBed({ SVC_PROXY_CONNECTIONS_PER_ADDRESS: "64" }, withSurvival);
  const witness = await bed.passRaw(bed.account("witness"), "play.example");
  await bed.lobby.player("witness");
  for (const [name, bytesFor] of Object.entries(rude)) {
    await t.test(name, limit, async () => {
      const mallory = await bed.passRaw(bed.account("mallory"), "play.example");
      await bed.lobby.player("mallory");
      await mallory.until(() => mallory.state.worlds === 2);
      mallory.connection.write(bytesFor(mallory));
      await mallory.until(() => mallory.state.isClosed);
      await bed.lobby.until(() => !bed.lobby.players.has("mallory"));
    });
  }
  witness.command("felis go survival");
  await bed.survival.player("witness");
  assert.deepEqual(bed.lobby.frames, []);
});

test(
  "what a client sends on svc:control reaches no server, in either phase and however it is padded",
  limit,
  async () => {
    await using bed = await startBed({}, withSurvival);
    const mallory = await bed.raw(bed.account("mallory"), host);
    const { connection, version } = mallory;
    connection.send(version.configuration.toServer.id("custom_payload"), text(controlChannel), forged);
    await bed.release({ name: "mallory", uuid: "" });
    await bed.survival.player("mallory");
    await mallory.until(() => mallory.state.worlds === 2);
    for (const size of [0, 300, 60_000])
      connection.write(packed(payload(mallory, size).length, payload(mallory, size)));
    mallory.send("custom_payload", text("test:end"));
    await bed.survival.until(() => bed.survival.messages.some(({ channel }) => channel === "test:end"));
    const heard = [...bed.gate.messages, ...bed.survival.messages].map(({ channel }) => channel);
    assert.deepEqual(heard, ["test:end"]);
    assert(!bed.service.calls.some((call) => call.includes("/wake")));
  },
);

test(
  "a server neither sends players elsewhere nor touches our cookies, and its own cookies are its own affair",
  limit,
  async () => {
    await using bed = await startBed({}, withSurvival);
    const cookies = new Map([["svc:ticket", Buffer.from("ours")]]);
    const alice = await bed.passRaw(bed.account("alice"), host, { cookies });
    const survival = await bed.survival.player("alice");
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
  },
);

test("an operator may let servers send players elsewhere", limit, async () => {
  await using bed = await startBed({ SVC_PROXY_SERVER_TRANSFERS: "true" }, withSurvival);
  const alice = await bed.passRaw(bed.account("alice"), host);
  (await bed.survival.player("alice")).transfer({ host: "next.example", port: 1 });
  assert.deepEqual(await alice.until(() => alice.state.transfer), { host: "next.example", port: 1 });
});

test(
  "packs, links and report details of a server do not follow the player to the next one",
  limit,
  async () => {
    await using bed = await startBed({}, withSurvival);
    const alice = await bed.passRaw(bed.account("alice"), host);
    await bed.survival.player("alice");
    await alice.until(() => alice.state.worlds === 2);
    alice.command("felis lobby");
    await bed.lobby.player("alice");
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
    await using bed = await startBed({}, withSurvival);
    const alice = await bed.passRaw(bed.account("alice"), host);
    const survival = await bed.survival.player("alice");
    await alice.until(() => alice.state.worlds === 2);
    const answer = alice.answers["start_configuration"];
    alice.answers["start_configuration"] = undefined;
    const { connection, version } = survival.player;
    connection.send(version.play.toClient.id("start_configuration"));
    await alice.until(() => alice.seen.includes("play start_configuration"));
    connection.destroy();
    await until(() => bed.lobby.connections === 1);
    // Only now the client leaves the world of the dead server, with a last word to it.
    alice.send("custom_payload", text("test:late"));
    answer?.({} as never);
    await bed.lobby.player("alice");
    await alice.until(() => alice.state.worlds === 3);
    alice.send("custom_payload", text("test:lobby"));
    await bed.lobby.until(() => bed.lobby.messages.some(({ channel }) => channel === "test:lobby"));
    assert.deepEqual(
      bed.lobby.messages.map(({ channel }) => channel),
      ["test:lobby"],
    );
  },
);

test("what the menu asked for is not told to the server the player went to meanwhile", limit, async () => {
  await using bed = await startBed({}, withSurvival);
  const { promise: later, resolve: tellNow } = Promise.withResolvers<void>();
  bed.service.answers.set("lifecycle.ownership.read-menu-access", async () => {
    await later;
    return { status: 200, body: { servers: { survival: "owner" } } };
  });
  const alice = await bed.passRaw(bed.account("alice"), "play.example");
  await bed.lobby.player("alice");
  bed.lobby.send("alice", { type: "ListRequest" });
  await bed.service.until(() => bed.service.calls.some((call) => call.includes("/menu-access/")));
  alice.command("felis go survival");
  await bed.survival.player("alice");
  await alice.until(() => alice.state.worlds === 3);
  tellNow();
  alice.command("felis lobby");
  await alice.until(() => alice.state.worlds === 4);
  assert.deepEqual(bed.survival.messages, []);
});

test("a frame of the lobby counts for nobody who is not released", limit, async () => {
  // The lobby's own address in place of the gate's: whoever stands there has proved nothing.
  await using bed = await startBed({}, withSurvival);
  bed.service.servers.set("login", runningAt("login", bed.lobby));
  await bed.restart();
  const mallory = await bed.raw(bed.account("mallory", { isLinked: false }), host);
  await bed.lobby.player("mallory");
  for (const type of ["WakeRequest", "ClaimRequest"] as const)
    bed.lobby.send("mallory", { type, player: null, server: "survival" });
  bed.lobby.send("mallory", { type: "LoginRelease", player: null });
  await mallory.until(() => mallory.seen.includes("play system_chat"));
  assert(!bed.service.calls.some((call) => /wake|claim/.test(call)));
});
