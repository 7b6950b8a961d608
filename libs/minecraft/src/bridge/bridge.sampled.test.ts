import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import { controlChannel } from "@svc/proto/control";
import type { LimboEvents, LimboSession } from "../limbo/limbo.ts";
import { createLimbo } from "../limbo/session.ts";
import { dial } from "../login/dial.ts";
import { listen } from "../login/listen.ts";
import type { Player } from "../login/player.ts";
import { offlineUuid } from "../login/profile.ts";
import { createLoginKeys } from "../login/session-server.ts";
import type { PluginMessage } from "../packet/play.ts";
import { startBot } from "../testing/bot.ts";
import { startSessionServer } from "../testing/session-server.ts";
import { findVersion, getVersion, supportedProtocols } from "../version/catalog.ts";
import { string } from "../wire/bytes.ts";
import { type Bridge, createBridge } from "./bridge.ts";

const secret = "forwarding secret";
const status = () => ({ description: "test", playersOnline: 0, playersMax: 1 });
const local = { port: 0, host: "127.0.0.1", status } as const;

type Scene = AsyncDisposable & {
  readonly port: number;
  readonly sessions: LimboSession[];
  readonly bridges: Bridge[];
  readonly joined: string[];
  readonly lost: (string | undefined)[];
  readonly fromServer: PluginMessage[];
};

/** Two limbo servers a and b behind a proxy. */
async function startFixture(events: LimboEvents = {}, online?: string): Promise<Scene> {
  const limbo = createLimbo();
  const [sessions, bridges, joined, lost, fromServer]: [
    LimboSession[],
    Bridge[],
    string[],
    string[],
    PluginMessage[],
  ] = [[], [], [], [], []];
  const onPlayer = async (player: Player) => void sessions.push(await limbo.enter(player, events));
  const world = await listen({ ...local, trust: { kind: "forwarded", secret }, onPlayer });
  const backend = (name: string) => ({ name, host: "127.0.0.1", port: world.port, secret });
  const trust = online
    ? ({ kind: "online", keys: createLoginKeys(), sessionServer: { root: online } } as const)
    : ({ kind: "offline" } as const);
  const proxy = await listen({
    ...local,
    trust,
    onPlayer: async (player) => {
      const bridge: Bridge = createBridge(player, {
        onJoined: (server) => void joined.push(server),
        onLost: (_, reason) => {
          lost.push(JSON.stringify(reason));
          void bridge.connect(backend("b"));
        },
        onServerMessage: (message) => {
          fromServer.push(message);
          return false;
        },
        onCommand: (command) => {
          if (!command.startsWith("go ")) return false;
          void bridge.connect(backend(command.slice(3)));
          return true;
        },
      });
      bridges.push(bridge);
      await bridge.connect(backend("a"));
    },
  });
  const end = async () => {
    await proxy.close();
    await world.close();
    await limbo[Symbol.asyncDispose]();
  };
  return { port: proxy.port, sessions, bridges, joined, lost, fromServer, [Symbol.asyncDispose]: end };
}

for (const protocol of sampleOf(supportedProtocols, 4)) {
  const version = getVersion(protocol);
  test(`a ${version.label} client joins, moves to another server and is kicked back, on one connection`, async () => {
    await using fixture = await startFixture();
    const bot = startBot({ port: fixture.port, name: "Traveller", version: version.data });
    await once(bot, "spawn");
    const said = once(bot, "message");
    fixture.sessions[0]?.message({ text: "hello", color: "aqua", click: { open: "https://example.com" } });
    assert.equal(String((await said)[0]), "hello");
    bot.chat("/go b");
    await until(() => fixture.joined.length === 2 && fixture.sessions.length === 2);
    fixture.sessions[1]?.kick("the world is closing");
    await until(() => fixture.joined.length === 3 && fixture.sessions.length === 3);
    assert.deepEqual(fixture.joined, ["a", "b", "b"]);
    assert.match(fixture.lost[0] ?? "", /the world is closing/);
    assert.equal(fixture.sessions[2]?.player.profile.uuid, offlineUuid("Traveller"));
    bot.end();
    await once(bot, "end");
  });
}

test("twenty switches in a row leave one player on one server", async () => {
  await using fixture = await startFixture();
  const bot = startBot({ port: fixture.port, name: "Hopper", version: "1.21.4" });
  bot._client.setMaxListeners(100);
  await once(bot, "spawn");
  const world = { name: "again", host: "127.0.0.1", secret };
  for (let turn = 0; turn < 20; turn++) {
    bot.chat("/go b");
    await until(() => fixture.joined.length === turn + 2);
  }
  const open = () => fixture.sessions.filter(({ player }) => !player.connection.isClosed).length;
  await until(() => fixture.sessions.length === 21 && open() === 1);
  await assert.rejects(fixture.bridges[0]?.connect({ ...world, port: 1 }) ?? Promise.resolve(), {
    code: "unavailable",
  });
  assert.equal(fixture.bridges[0]?.server, "b");
  bot.end();
});

test("the profile verified by the session server reaches the backend, and unverified clients get nowhere", async () => {
  await using sessions = await startSessionServer();
  await using fixture = await startFixture({}, sessions.root);
  const bot = startBot({
    port: fixture.port,
    name: "Genuine",
    version: "1.21.4",
    sessionServer: sessions.root,
  });
  await once(bot, "spawn");
  assert.deepEqual(fixture.sessions[0]?.player.profile, {
    uuid: offlineUuid("Genuine"),
    name: "Genuine",
    properties: [{ name: "textures", value: "e30=", signature: "c2ln" }],
  });
  bot.end();
  const liar = startBot({ port: fixture.port, name: "Liar", version: "1.21.4" });
  liar.on("error", () => undefined);
  await once(liar, "end");
  assert.equal(fixture.sessions.length, 1);
});

/** A client that writes its own packets, as a hostile one would. */
async function rawClient(port: number, name: string) {
  const version = findVersion(769);
  assert(version);
  const profile = { uuid: offlineUuid(name), name, properties: [] };
  const client = await dial(
    { name: "proxy", host: "127.0.0.1", port },
    { version, profile, address: "127.0.0.1" },
  );
  const finish = version.configuration.toClient.id("finish_configuration");
  for (let packet = await client.next(); packet.id !== finish; packet = await client.next());
  client.send(version.configuration.toServer.id("finish_configuration"));
  return { client, version };
}

test("svc:control of a client reaches no server: plain, padded until compressed, or with its id written longer", async () => {
  const heard: string[] = [];
  await using fixture = await startFixture({ onPluginMessage: ({ channel }) => void heard.push(channel) });
  const { client, version } = await rawClient(fixture.port, "Forger");
  await until(() => fixture.sessions.length === 1);
  const id = version.play.toServer.id("custom_payload");
  const forged = Buffer.concat([
    string(controlChannel),
    Buffer.from('{"type":"TransferReady","server":"x"}'),
  ]);
  client.send(id, forged);
  client.send(id, forged, Buffer.alloc(9_000, 0x20));
  client.sendBody(Buffer.concat([Buffer.of(id | 0x80, 0), forged]));
  client.sendBody(Buffer.concat([Buffer.of(id | 0x80, 0x80, 0), forged]));
  client.send(id, string("other:channel"), Buffer.from("after"));
  await until(() => heard.length > 0);
  assert.deepEqual(heard, ["other:channel"]);
  client.destroy();
});

test("svc:control of a server comes to the proxy and not to the client", async () => {
  await using fixture = await startFixture();
  const { client, version } = await rawClient(fixture.port, "Listener");
  const seen: string[] = [];
  const payload = version.play.toClient.id("custom_payload");
  client.listen(({ id, reader }) => id === payload && void seen.push(reader.string()));
  await until(() => fixture.sessions.length === 1);
  for (const channel of [controlChannel, "other:channel"]) {
    fixture.sessions[0]?.pluginMessage({ channel, data: Buffer.alloc(400, 0x20) });
  }
  await until(() => seen.length > 0);
  assert.deepEqual(seen, ["other:channel"]);
  assert.deepEqual(
    fixture.fromServer.map(({ channel }) => channel),
    [controlChannel, "other:channel"],
  );
  client.destroy();
});

test("a server that asks for forwarding turns a direct client away", async () => {
  const refused = Promise.withResolvers<string>();
  const onRefused = (fault: { code: string }) => refused.resolve(fault.code);
  await using world = await listen({
    ...local,
    ...{ trust: { kind: "forwarded", secret }, onPlayer: () => assert.fail("let in"), onRefused },
  });
  const bot = startBot({ port: world.port, name: "Direct", version: "1.21.4" });
  bot.on("error", () => undefined);
  assert.equal(await refused.promise, "unauthenticated");
  await once(bot, "end");
});
