import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { sampleOf } from "@svc/config/testing";
import { findVersion, supportedProtocols } from "@svc/minecraft";
import { join, kickOf, startFront, until } from "@svc/minecraft/testing";
import { type ControlFrame, controlChannel, encodeControl } from "@svc/proto/control";
import { createLogger } from "@svc/telemetry";
import type { LobbyConfig } from "./config.ts";
import { startLobby } from "./service.ts";

const versions = supportedProtocols.flatMap((protocol) => findVersion(protocol) ?? []);
const secret = "shared by proxy and servers";
const log = createLogger("lobby", "error");
let lobby: Awaited<ReturnType<typeof startLobby>>;
let front: Awaited<ReturnType<typeof startFront>>;
let number = 0;
const newName = () => `Guest${++number}`;

const start = (about: Partial<LobbyConfig> = {}) => {
  const config = { host: "127.0.0.1", gamePort: 0, maxPlayers: 10, forwardingSecret: secret, warnings: [] };
  return startLobby({ config: { ...config, ...about }, log });
};
const backend = (port: number) => ({ name: "lobby", host: "127.0.0.1", port, secret });

before(async () => {
  lobby = await start();
  front = await startFront(backend(lobby.gamePort));
});
after(async () => {
  await front[Symbol.asyncDispose]();
  await lobby.close();
});

/** A player in the lobby, with the proxy's side of their channel. */
async function enter(about: { version?: string; locale?: string } = {}) {
  const name = newName();
  const joined = await join({ port: front.port, name, ...about });
  const { frames, bridge } = front.player(name);
  const tell = (frame: ControlFrame) => {
    assert.ok(bridge.sendToServer({ channel: controlChannel, data: encodeControl(frame) }));
  };
  const received = (type: ControlFrame["type"]) =>
    until(() => frames.find((frame) => frame.type === type), 15_000, type);
  await until(() => joined.chat.length > 0, 15_000, "the greeting");
  return { ...joined, frames, tell, received };
}

const asleep = {
  type: "StatusUpdate",
  phase: "Stopped",
  ready: false,
  playersOnline: 0,
  playersMax: 20,
} as const;

for (const { data: version } of sampleOf(versions, 4)) {
  test(`on ${version} a player opens the menu, starts a server by a click, and is told when it is ready`, async () => {
    const { bot, chat, quit, tell, received, frames } = await enter({ version });
    bot.chat("/menu");
    await received("ListRequest");
    const opened = once(bot, "windowOpen");
    tell({ type: "ListUpdate", servers: ["alpha", "beta"], access: ["wake", "owner_only"] });
    const [window] = await opened;
    assert.match(JSON.stringify(window.title), /Servers/);
    assert.match(JSON.stringify(window.slots[0]), /alpha/);
    await until(
      () => frames.filter(({ type }) => type === "StatusQuery").length === 2,
      15_000,
      "both are asked about",
    );
    const redrawn = once(bot, "windowOpen");
    tell({ ...asleep, server: "alpha", claimable: false });
    const [second] = await redrawn;
    assert.match(JSON.stringify(second.slots[0]), /Asleep/);
    const closed = once(bot, "windowClose");
    await bot.clickWindow(0, 0, 0);
    assert.deepEqual(await received("WakeRequest"), { type: "WakeRequest", player: null, server: "alpha" });
    await closed;
    await until(() => chat.some((line) => line.startsWith("Starting alpha")), 15_000, "the start is told");
    tell({ type: "TransferReady", player: null, server: "alpha" });
    await until(() => chat.some((line) => line.startsWith("alpha is ready")), 15_000, "it is ready");
    await quit();
  });
}

test("a click on a server that is not the player's to start says why, and sends nothing", async () => {
  const { bot, chat, quit, tell, received, frames } = await enter({ locale: "zh_cn" });
  bot.chat("/server");
  await received("ListRequest");
  const opened = once(bot, "windowOpen");
  tell({ type: "ListUpdate", servers: ["alpha"], access: ["owner_only"] });
  await opened;
  await bot.clickWindow(0, 0, 0);
  await until(
    () => chat.some((line) => line === "alpha 无法启动。只有服主可以启动。如果没有服主，请联系管理员。"),
    15_000,
    "the reason in Chinese",
  );
  assert.equal(
    frames.some(({ type }) => type === "WakeRequest" || type === "ClaimRequest"),
    false,
  );
  await quit();
});

test("one player's frames and clicks never affect another", async () => {
  const [first, second] = [await enter(), await enter()];
  first.bot.chat("/menu");
  await first.received("ListRequest");
  const opened = once(first.bot, "windowOpen");
  first.tell({ type: "ListUpdate", servers: ["alpha"] });
  await opened;
  first.tell({ type: "TransferReady", player: second.bot.username, server: "alpha" });
  await until(() => first.chat.some((line) => line.includes("is ready")), 15_000, "the first is told");
  assert.deepEqual(second.frames, []);
  assert.equal(
    second.chat.some((line) => line.includes("is ready")),
    false,
  );
  await Promise.all([first.quit(), second.quit()]);
});

test("clicks without a menu or on invalid slots change nothing", async () => {
  const { bot, quit, tell, received, frames, chat } = await enter();
  const click = (slot: number, windowId: number) =>
    bot._client.write("window_click", {
      ...{ windowId, stateId: 1, slot, mouseButton: 0, mode: 0, changedSlots: [] },
      cursorItem: { itemCount: 0 },
    });
  click(0, 1);
  bot.chat("/menu");
  await received("ListRequest");
  const opened = once(bot, "windowOpen");
  tell({ type: "ListUpdate", servers: ["alpha"] });
  const [window] = await opened;
  for (const slot of [-999, -1, 1, 44, 54, 89, 32_000]) click(slot, window.id);
  click(0, window.id + 7);
  bot.chat("/nonsense");
  await until(() => chat.some((line) => line.includes("Type /menu")), 15_000, "the session goes on");
  assert.deepEqual(
    frames.map(({ type }) => type),
    ["ListRequest", "StatusQuery"],
  );
  await quit();
});

test("connections that bypass the proxy or use another secret are refused", async () => {
  assert.match(
    await kickOf({ port: lobby.gamePort, name: newName() }),
    /Join through the network's own address/,
  );
  const forger = await startFront({ ...backend(lobby.gamePort), secret: "a guess" });
  assert.match(
    await kickOf({ port: forger.port, name: newName() }),
    /Join through the network's own address/,
  );
  await forger[Symbol.asyncDispose]();
});

test("a lobby that is full says so; one that stops tells its players", async () => {
  const small = await start({ maxPlayers: 1 });
  const own = await startFront(backend(small.gamePort));
  const { bot, chat } = await join({ port: own.port, name: newName() });
  await until(() => chat.length > 0, 15_000, "the greeting");
  assert.match(await kickOf({ port: own.port, name: newName() }), /The lobby is full/);
  const kicked = once(bot, "kicked");
  await small.close();
  assert.match(JSON.stringify(await kicked), /is restarting/);
  await own[Symbol.asyncDispose]();
});
