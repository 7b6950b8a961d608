import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { findVersion, supportedProtocols } from "@svc/minecraft";
import { join, kickOf, startFront, until } from "@svc/minecraft/testing";
import { createLogger, createRegistry } from "@svc/telemetry";
import { defaultRules, type GateConfig } from "./config.ts";
import { startGate } from "./service.ts";
import { startInternalApi } from "./testing/internal-api.ts";

const versions = supportedProtocols.flatMap((protocol) => findVersion(protocol) ?? []);
const secret = "shared by proxy and servers";
const log = createLogger("login-gate", "error");
let face: Awaited<ReturnType<typeof startInternalApi>>;
let gate: Awaited<ReturnType<typeof startGate>>;
let front: Awaited<ReturnType<typeof startFront>>;
let number = 0;
const newName = () => `Player${++number}`;

function configOf(about: Partial<GateConfig> = {}): GateConfig {
  return {
    host: "127.0.0.1",
    gamePort: 0,
    healthPort: 0,
    maxPlayers: 10,
    forwardingSecret: secret,
    lobbyServer: "lobby",
    flow: { baseUrl: face.baseUrl, token: face.token, panelHost: "console.example.com" },
    rules: { ...defaultRules, pollMs: 50, backoffMs: [50, 100] },
    warnings: [],
    ...about,
  };
}

const start = (about: Partial<GateConfig> = {}) =>
  startGate({ config: configOf(about), log, registry: createRegistry("login-gate", "test") });
const backend = (port: number) => ({ name: "login", host: "127.0.0.1", port, secret });
const reset = () =>
  Object.assign(face.state, { barred: false, linked: false, status: undefined, codeLifeMs: 600_000 });

before(async () => {
  face = await startInternalApi();
  gate = await start();
  front = await startFront(backend(gate.gamePort));
});
after(async () => {
  await front[Symbol.asyncDispose]();
  await gate.close();
  await face[Symbol.asyncDispose]();
});

const releases = (name: string) => front.player(name).frames.filter(({ type }) => type === "LoginRelease");

for (const { data: version, hasDialogs } of sampleOf(versions, 4)) {
  test(`on ${version} a player redeems the code that chat and a screen show, and is released`, async () => {
    reset();
    const name = newName();
    const { bot, chat, quit } = await join({ port: front.port, name, version });
    const screen = once(bot._client, hasDialogs ? "show_dialog" : "open_book");
    const line = await until(() => chat.find((text) => /CODE\d{4}/.test(text)), 15_000, "the code in chat");
    assert.match(line, /^Open https:\/\/console\.example\.com and enter this code: CODE\d{4}$/);
    await screen;
    assert.deepEqual(releases(name), [], "nobody passes without a link");
    face.state.linked = true;
    const [release] = await until(() => releases(name).length > 0 && releases(name), 15_000, "the release");
    assert.deepEqual(release, {
      type: "LoginRelease",
      player: bot.player?.uuid ?? front.player(name).bridge.player.profile.uuid,
    });
    await until(() => chat.some((text) => text.includes("You are signed in")), 15_000, "the good news");
    await quit();
  });
}

test("a player whose client speaks Chinese reads Chinese", async () => {
  reset();
  const { chat, quit } = await join({ port: front.port, name: newName(), locale: "zh_CN" });
  await until(() => chat.some((text) => /并输入绑定码： ?CODE\d{4}/.test(text)), 15_000, "the code in chat");
  await quit();
});

test("chat and commands at the gate are answered with instructions", async () => {
  reset();
  const { bot, chat, quit } = await join({ port: front.port, name: newName() });
  await until(() => chat.some((text) => /CODE/.test(text)), 15_000, "the code in chat");
  const answers = () => chat.filter((text) => text.includes("once your account is linked")).length;
  bot.chat("hello?");
  await until(() => answers() === 1, 15_000, "an answer to the chat");
  bot.chat("/spawn");
  await until(() => answers() === 2, 15_000, "an answer to the command");
  await quit();
});

test("a barred player is kicked and never gets a code", async () => {
  reset();
  Object.assign(face.state, { barred: true, linked: true });
  face.seen.length = 0;
  assert.match(await kickOf({ port: front.port, name: newName() }), /You are barred from this network/);
  assert.equal(
    face.seen.some((path) => path === "account/link/code"),
    false,
  );
});

test("a player who holds a code and is barred is kicked in place of being released", async () => {
  reset();
  const name = newName();
  const { bot, chat } = await join({ port: front.port, name });
  await until(() => chat.some((text) => /CODE/.test(text)), 15_000, "the code in chat");
  const kicked = once(bot, "kicked");
  Object.assign(face.state, { barred: true, linked: true });
  assert.match(JSON.stringify(await kicked), /You are barred/);
  assert.deepEqual(releases(name), []);
});

test("during an outage every attempt asks the proxy for a release, and the player gets in once the service is back", async () => {
  reset();
  face.state.status = 503;
  const name = newName();
  const { chat, quit } = await join({ port: front.port, name });
  await until(() => releases(name).length >= 2, 15_000, "the proxy was asked twice");
  assert.equal(chat.filter((text) => text.includes("is not responding")).length, 1);
  Object.assign(face.state, { status: undefined, linked: true });
  await until(() => chat.some((text) => text.includes("You are signed in")), 15_000, "the good news");
  await quit();
});

test("a long outage ends in a kick, and so does a service that refuses the gate's token", async () => {
  reset();
  const rules = { ...configOf().rules, outageWindowMs: 400 };
  const impatient = await start({ rules });
  const own = await startFront(backend(impatient.gamePort));
  face.state.status = 503;
  assert.match(await kickOf({ port: own.port, name: newName() }), /can't be reached right now/);
  face.state.status = 403;
  assert.match(await kickOf({ port: own.port, name: newName() }), /gate was refused/);
  await own[Symbol.asyncDispose]();
  await impatient.close();
});

test("an unredeemed code and a silent proxy both end in a kick", async () => {
  reset();
  const rules = { ...configOf().rules, loginTimeoutMs: 300, releaseWindowMs: 300 };
  const impatient = await start({ rules });
  const own = await startFront(backend(impatient.gamePort));
  assert.match(await kickOf({ port: own.port, name: newName() }), /time to link your account has run out/);
  face.state.linked = true;
  assert.match(await kickOf({ port: own.port, name: newName() }), /could not take you to the lobby/);
  await own[Symbol.asyncDispose]();
  await impatient.close();
});

test("a player who leaves is not asked about any more", async () => {
  reset();
  const name = newName();
  const { chat, quit } = await join({ port: front.port, name });
  await until(() => chat.some((text) => /CODE/.test(text)), 15_000, "the code in chat");
  const { uuid } = front.player(name).bridge.player.profile;
  await quit();
  const metrics = async () => (await fetch(`http://127.0.0.1:${gate.healthPort}/metrics`)).text();
  let text = await metrics();
  const end = performance.now() + 10_000;
  while (!/^svc_login_gate_players 0$/m.test(text) && performance.now() < end) text = await metrics();
  assert.match(text, /^svc_login_gate_players 0$/m);
  face.polled.length = 0;
  const other = await join({ port: front.port, name: newName() });
  await until(() => face.polled.length > 3, 15_000, "other players are asked about");
  assert.equal(face.polled.includes(uuid), false);
  await other.quit();
});

test("connections that bypass the proxy or use another secret are refused", async () => {
  reset();
  const direct = await kickOf({ port: gate.gamePort, name: newName() });
  assert.match(direct, /Join through the network's own address/);
  const forger = await startFront({ ...backend(gate.gamePort), secret: "a guess" });
  assert.match(
    await kickOf({ port: forger.port, name: newName() }),
    /Join through the network's own address/,
  );
  await forger[Symbol.asyncDispose]();
});

test("a gate without its settings lets nobody pass, and says so", async () => {
  const { flow: _none, ...config } = configOf();
  const off = await startGate({ config, log, registry: createRegistry("login-gate", "test") });
  const own = await startFront(backend(off.gamePort));
  assert.match(await kickOf({ port: own.port, name: newName() }), /not set up/);
  await own[Symbol.asyncDispose]();
  await off.close();
});

test("a gate that is full says so; one that stops tells its players", async () => {
  reset();
  const small = await start({ maxPlayers: 1 });
  const own = await startFront(backend(small.gamePort));
  const { bot, chat } = await join({ port: own.port, name: newName() });
  await until(() => chat.some((text) => /CODE/.test(text)), 15_000, "the code in chat");
  assert.match(await kickOf({ port: own.port, name: newName() }), /Too many players/);
  const kicked = once(bot, "kicked");
  await small.close();
  assert.match(JSON.stringify(await kicked), /is restarting/);
  await own[Symbol.asyncDispose]();
});

test("health is 200 once the gate ticks", async () => {
  const own = await start();
  const healthz = async () => (await fetch(`http://127.0.0.1:${own.healthPort}/healthz`)).status;
  await new Promise(setImmediate);
  assert.equal(await healthz(), 200);
  await own.close();
});
