import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { deflateSync } from "node:zlib";
import { until } from "@svc/local-stack/testing";
import { type Backend, dial } from "../login/dial.ts";
import { encodeForwarding } from "../login/forwarding.ts";
import { type Listener, listen } from "../login/listen.ts";
import { offlineUuid } from "../login/profile.ts";
import { getVersion, supportedProtocols } from "../version/catalog.ts";
import { bool, string, ushort, varint } from "../wire/bytes.ts";
import { encodeFrame } from "../wire/frame.ts";
import type { LimboSession } from "./limbo.ts";
import { createLimbo } from "./session.ts";

const secret = "between the proxy and its servers";
const version = getVersion(supportedProtocols.at(-1) ?? 0);
const limbo = createLimbo();
const doings: string[] = [];
const refusals: string[] = [];
const sessions: LimboSession[] = [];
let world: Listener;

before(async () => {
  world = await listen({
    ...{ port: 0, host: "127.0.0.1", trust: { kind: "forwarded", secret } },
    status: () => ({ description: "", playersOnline: 0, playersMax: 1 }),
    onRefused: ({ code }) => void refusals.push(code),
    onPlayer: async (player) => {
      const session = await limbo.enter(player, {
        onCommand: (command) => {
          doings.push(command);
          session.openChest({
            title: "x",
            rows: 6,
            items: [{ slot: 0, item: "stone", name: "x".repeat(8_000) }],
          });
        },
        onChat: (message) => void doings.push(message),
        onCookie: (key) => void doings.push(key),
        onClick: () => void doings.push("click"),
        onPluginMessage: ({ channel }) => void doings.push(channel),
        onDialogClick: (id) => void doings.push(id),
      });
      sessions.push(session);
    },
  });
});
after(async () => {
  await world.close();
  await limbo[Symbol.asyncDispose]();
});

/** A client in the world that writes its own packets, and our side of its connection. */
async function enter(name: string) {
  const profile = { uuid: offlineUuid(name), name, properties: [] };
  const backend: Backend = { name: "limbo", host: "127.0.0.1", port: world.port, secret };
  const client = await dial(backend, { version, profile, address: "127.0.0.1" });
  const finish = version.configuration.toClient.id("finish_configuration");
  for (let packet = await client.next(); packet.id !== finish; packet = await client.next());
  const before = sessions.length;
  client.send(version.configuration.toServer.id("finish_configuration"));
  await until(() => sessions.length > before);
  const { player } = sessions.at(-1) as LimboSession;
  doings.length = 0;
  return { client, near: player.connection };
}

const id = (name: string) => version.play.toServer.id(name);
const body = (name: string, ...fields: Buffer[]) => Buffer.concat([varint(id(name)), ...fields]);
const padding = (length: number) => Buffer.alloc(length, 0x41);

/** Bytes that end a connection, as they go over the wire behind a compressed login. */
const fatal: Record<string, Buffer> = {
  "a packet of no number we know": encodeFrame(varint(250), 256),
  "a command that is longer than its packet": encodeFrame(body("chat_command", varint(30_000)), -1),
  "a click that is cut off": encodeFrame(body("window_click", varint(1), varint(1)), 256),
  "chat of more than 256 characters": encodeFrame(body("chat_message", string("a".repeat(257))), 256),
  "settings to be kept that are not settings": encodeFrame(
    body("settings", string("en_us"), padding(2_000)),
    256,
  ),
  "a locale of a thousand characters": encodeFrame(body("settings", string("a".repeat(1_000))), 4_096),
  "a cookie larger than a cookie may be": encodeFrame(
    body("cookie_response", string("a"), bool(true), varint(5_121), padding(5_121)),
    256,
  ),
  "a plugin message larger than a server's": encodeFrame(
    body("custom_payload", string("a:b"), padding(70_000)),
    256,
  ),
  "a frame that only says it is large": Buffer.of(0xff, 0xff, 0x7f),
  "a small frame that inflates to megabytes": (() => {
    const packed = Buffer.concat([varint(2_000_000), deflateSync(Buffer.alloc(2_000_000))]);
    return Buffer.concat([varint(packed.length), packed]);
  })(),
};
for (const [name, bytes] of Object.entries(fatal)) {
  test(`${name} ends that one connection, and no other`, async () => {
    const [hostile, bystander] = [await enter("Hostile"), await enter("Bystander")];
    hostile.client.write(bytes);
    assert.match(String((await hostile.near.closed)?.code), /^(frame|state)$/);
    bystander.client.send(id("chat_command"), string("menu"));
    await until(() => doings.length > 0);
    assert.deepEqual(doings, ["menu"]);
    hostile.client.destroy();
    bystander.client.destroy();
  });
}

test("nothing a client does changes the world", async () => {
  const { client, near } = await enter("Griefer");
  for (const name of [
    ...[
      "block_dig",
      "block_place",
      "use_item",
      "use_entity",
      "set_creative_slot",
      "update_sign",
      "pick_item_from_block",
    ],
    ...[
      "position_look",
      "vehicle_move",
      "steer_boat",
      "spectate",
      "client_command",
      "edit_book",
      "held_item_slot",
    ],
  ]) {
    if (version.play.toServer.find(name) !== undefined) client.send(id(name), padding(40));
  }
  client.send(id("chat_command"), string("menu"));
  await until(() => doings.length > 0);
  assert.deepEqual([doings, near.isClosed], [["menu"], false]);
  client.destroy();
});

test("a client that sends a thousand actions at once gets sixty through, and plugin messages still pass", async () => {
  const { client } = await enter("Hasty");
  const click = encodeFrame(
    body("window_click", varint(1), varint(1), ushort(0), Buffer.of(0), padding(8)),
    256,
  );
  client.write(Buffer.concat(new Array<Buffer>(1_000).fill(click)));
  client.send(id("custom_payload"), string("svc:control"), Buffer.from("{}"));
  await until(() => doings.includes("svc:control"));
  const clicks = doings.filter((one) => one === "click").length;
  assert.ok(clicks >= 60 && clicks < 100, `${clicks} clicks`);
  client.destroy();
});

test("a client that sends requests and never reads is closed before the answers fill the memory", async () => {
  const { client, near } = await enter("Deaf");
  client.stop();
  const session = sessions.at(-1) as LimboSession;
  while (!near.isClosed) {
    session.message(randomBytes(20_000).toString("hex"));
    assert.ok(near.backlogBytes < 2_000_000);
    await new Promise(setImmediate);
  }
  assert.match(String((await near.closed)?.message), /does not read/);
  client.destroy();
});

const frame = (packet: number, ...fields: Buffer[]) =>
  encodeFrame(Buffer.concat([varint(packet), ...fields]), -1);
const handshake = frame(0, varint(version.protocol), string("x"), ushort(25_565), varint(2));
const start = frame(0, string("Mallory"), Buffer.alloc(16));
const forwarded = {
  profile: { uuid: offlineUuid("Notch"), name: "Notch", properties: [] },
  address: "127.0.0.1",
};
const answer = (signed: Buffer, messageId = 1) => frame(2, varint(messageId), bool(true), signed);
const shifted = (signed: Buffer, at: number) => {
  const copy = Buffer.from(signed);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
};
const genuine = encodeForwarding(forwarded, secret);
const properties = Buffer.concat([genuine.subarray(0, -1), varint(2_000_000_000)]);

/** What comes past the proxy, and how it is refused. */
const direct: Record<string, [bytes: Buffer[], code: string]> = {
  "no forwarding": [[handshake, start, frame(2, varint(1), bool(false))], "unauthenticated"],
  "forwarding under a guessed secret": [
    [handshake, start, answer(encodeForwarding(forwarded, "guess"))],
    "unauthenticated",
  ],
  "forwarding under an empty secret": [
    [handshake, start, answer(Buffer.concat([Buffer.alloc(32), genuine.subarray(32)]))],
    "unauthenticated",
  ],
  "a signature with one bit changed": [[handshake, start, answer(shifted(genuine, 0))], "unauthenticated"],
  "another player under a genuine signature": [
    [handshake, start, answer(shifted(genuine, 50))],
    "unauthenticated",
  ],
  "a property count put behind the signature": [[handshake, start, answer(properties)], "unauthenticated"],
  "an answer to another question": [[handshake, start, answer(genuine, 7)], "unauthenticated"],
  "an empty answer": [[handshake, start, answer(Buffer.alloc(0))], "unauthenticated"],
  "the login's end before it was asked for": [[handshake, start, frame(3)], "state"],
  "the login's start twice": [[handshake, start, start], "state"],
  "an encryption answer that nobody asked for": [
    [handshake, start, frame(1, varint(128), Buffer.alloc(128), varint(4), Buffer.alloc(4))],
    "state",
  ],
  "a packet of the game in the login": [
    [handshake, start, frame(id("chat_command"), string("menu"))],
    "state",
  ],
  "an answer beyond 64 KiB": [[handshake, start, answer(padding(66_000))], "frame"],
};
for (const [name, [bytes, code]] of Object.entries(direct)) {
  test(`${name} lets nobody in past the proxy`, async () => {
    const entered = sessions.length;
    refusals.length = 0;
    const socket = connect(world.port, "127.0.0.1").on("error", () => undefined);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(Buffer.concat(bytes));
    socket.resume();
    await until(() => refusals.length > 0);
    assert.deepEqual([refusals, sessions.length], [[code], entered]);
    socket.end();
    await closed;
  });
}
