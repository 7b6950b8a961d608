import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText, type Text } from "@svc/minecraft";
import { createTestClock } from "@svc/minecraft/testing";
import { type ControlFrame, encodeControl } from "@svc/proto/control";
import type { MenuItem } from "../menu/render.ts";
import { openSession } from "./session.ts";

/** A player whose screen and whose frames to the proxy can be read. */
function enter(locale = "en_us") {
  const { clock, pass, sleeping } = createTestClock();
  const leaving = new AbortController();
  const chat: string[] = [];
  const titles: string[] = [];
  const sent: ControlFrame[] = [];
  let screen: { title: string; items: readonly MenuItem[] } | undefined;
  let draws = 0;
  const session = openSession(
    {
      locale: () => locale,
      say: (text: Text) => chat.push(plainText(text)),
      title: (title, subtitle) => titles.push(`${plainText(title)}: ${plainText(subtitle)}`),
      send: (frame) => sent.push(frame),
      showMenu: (title, items) => {
        screen = { title, items };
        draws++;
      },
      closeMenu: () => {
        screen = undefined;
      },
      left: leaving.signal,
    },
    clock,
  );
  chat.length = 0;
  const tell = (frame: ControlFrame) => session.frame(encodeControl(frame));
  const tile = (slot: number) => {
    const item = screen?.items.find((one) => one.slot === slot);
    return item && [item.name, ...item.lore].map(plainText).join(" | ");
  };
  const asked = (type: ControlFrame["type"]) =>
    sent.flatMap((frame) => (frame.type === type ? ["server" in frame ? frame.server : ""] : []));
  return {
    session,
    tell,
    tile,
    asked,
    chat,
    titles,
    sent,
    pass,
    sleeping,
    leave: () => leaving.abort(),
    screen: () => screen,
    draws: () => draws,
  };
}

const list = (servers: string[], access?: string[]): ControlFrame => ({
  type: "ListUpdate",
  servers,
  ...(access ? { access } : {}),
});
const status = (
  server: string,
  about: Partial<Extract<ControlFrame, { type: "StatusUpdate" }>> = {},
): ControlFrame => ({
  type: "StatusUpdate",
  server,
  phase: "Stopped",
  ready: false,
  playersOnline: 0,
  playersMax: 20,
  claimable: false,
  ...about,
});
const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

for (const command of ["menu", "server", "MENU", "menu now"]) {
  test(`/${command} asks for the list, and shows it when it comes`, async () => {
    const player = enter();
    player.session.command(command);
    assert.deepEqual(player.sent, [{ type: "ListRequest" }]);
    assert.equal(player.screen(), undefined);
    player.tell(list(["alpha", "beta"], ["owner", "owner_only"]));
    assert.equal(player.tile(0), "alpha | Start | Asking…");
    assert.match(player.tile(1) ?? "", /^beta \| Can't start/);
    assert.deepEqual(player.asked("StatusQuery"), ["alpha", "beta"]);
    player.tell(status("alpha", { ready: true, phase: "Running", playersOnline: 2 }));
    await player.pass(250);
    assert.equal(player.tile(0), "alpha | Join | 2 of 20 players");
  });
}

test("a list that nobody asked for opens nothing", () => {
  const player = enter();
  player.tell(list(["alpha"]));
  assert.equal(player.screen(), undefined);
  assert.deepEqual(player.sent, []);
});

test("two commands in a row send one request; without an answer the player is told and may retry", async () => {
  const player = enter();
  player.session.command("menu");
  player.session.command("menu");
  assert.equal(player.sent.length, 1);
  await player.pass(5_000);
  assert.match(player.chat.join(), /did not answer/);
  player.session.command("menu");
  assert.equal(player.sent.length, 2);
  player.leave();
});

test("a click starts, joins or claims by what its tile says, and closes the menu", () => {
  const clicks: [ControlFrame, string, ControlFrame["type"]][] = [
    [status("alpha"), "Starting alpha", "WakeRequest"],
    [status("alpha", { ready: true }), "Taking you to alpha", "WakeRequest"],
    [status("alpha", { claimable: true }), "Claiming alpha", "ClaimRequest"],
  ];
  for (const [state, said, type] of clicks) {
    const player = enter();
    player.session.command("menu");
    player.tell(list(["alpha"]));
    player.tell(state);
    player.session.click(0);
    assert.deepEqual(player.sent.at(-1), { type, player: null, server: "alpha" });
    assert.match(player.chat.at(-1) ?? "", new RegExp(said));
    assert.equal(player.screen(), undefined);
    player.session.click(0);
    assert.equal(player.asked(type).length, 1, "a second click on a closed menu does nothing");
  }
});

test("a click on what can't be started sends nothing; the reason goes to chat", () => {
  const player = enter();
  player.session.command("menu");
  player.tell(list(["alpha"], ["allowlist"]));
  const before = player.sent.length;
  player.session.click(0);
  assert.equal(player.sent.length, before);
  assert.match(
    player.chat.at(-1) ?? "",
    /^alpha can't be started\. You are not on its allowlist\. Ask its owner/,
  );
  assert.ok(player.screen());
});

test("pages turn, and only the tiles of the shown page are asked for", () => {
  const player = enter();
  player.session.command("menu");
  player.tell(list(names(50)));
  assert.equal(player.screen()?.title, "Servers (1 of 2)");
  assert.equal(player.asked("StatusQuery").length, 45);
  player.session.click(53);
  assert.equal(player.screen()?.title, "Servers (2 of 2)");
  assert.equal(player.tile(0), "s45 | Start | Asking…");
  assert.deepEqual(player.asked("StatusQuery").slice(45), ["s45", "s46", "s47", "s48", "s49"]);
  player.session.click(0);
  assert.deepEqual(player.asked("WakeRequest"), ["s45"]);
});

test("however fast pages are turned, the proxy's rate limit is never exceeded and clicks still go through", async () => {
  const player = enter();
  player.session.command("menu");
  player.tell(list(names(500)));
  for (let turn = 0; turn < 11; turn++) player.session.click(53);
  assert.ok(player.sent.length <= 90 - 16);
  for (let second = 1; second <= 20; second++) {
    await player.pass(1_000);
    assert.ok(player.sent.length <= 96 + second * 10, `after ${second} s: ${player.sent.length}`);
  }
  assert.ok(player.asked("StatusQuery").includes("s499"), "the shown page is answered in the end");
  player.session.click(0);
  assert.equal(player.asked("WakeRequest").length, 1);
  player.leave();
});

test("45 answers at once draw the chest anew once", async () => {
  const player = enter();
  player.session.command("menu");
  player.tell(list(names(45)));
  const drawn = player.draws();
  for (const name of names(45)) player.tell(status(name, { ready: true }));
  await player.pass(1_000);
  assert.equal(player.draws(), drawn + 1);
  assert.match(player.tile(44) ?? "", /Join/);
  player.leave();
});

test("an open menu is refreshed every ten seconds, a closed one never", async () => {
  const player = enter();
  player.session.command("menu");
  player.tell(list(["alpha"]));
  await player.pass(30_500);
  assert.equal(player.asked("StatusQuery").length, 4);
  player.session.menuClosed();
  await player.pass(60_000);
  assert.equal(player.asked("StatusQuery").length, 4);
  assert.equal(player.sleeping(), 0);
});

test("errors are told when they are about a click, and quiet when they answer a tile's question", () => {
  const player = enter();
  player.session.command("menu");
  player.tell(list(["alpha", "beta"]));
  player.tell({ type: "Error", code: "not_found", message: "x", server: "alpha" });
  player.tell({ type: "Error", code: "busy", message: "x", server: "beta" });
  assert.deepEqual(player.chat, []);
  assert.equal(player.tile(0)?.startsWith("beta"), true, "a server that is gone leaves the menu");
  player.session.click(0);
  player.tell({ type: "Error", code: "already_claimed", message: "x", server: "beta" });
  assert.match(player.chat.at(-1) ?? "", /Somebody else claimed this server first/);
  player.tell({ type: "Error", code: "not_linked", message: "x" });
  assert.match(player.chat.at(-1) ?? "", /type \/link/);
});

test("a server that is ready is announced, whoever the frame names", () => {
  const player = enter();
  player.session.command("menu");
  player.tell(list(["alpha"]));
  player.tell({ type: "TransferReady", player: "somebody-else", server: "alpha" });
  assert.deepEqual(player.titles, ["Ready: alpha is ready. Taking you there…"]);
  assert.equal(player.screen(), undefined);
});

test("frames that are none, or not for a lobby, change nothing", () => {
  const player = enter();
  const frames = [
    "",
    "[]",
    "null",
    "{",
    '{"type":"Nonsense"}',
    '{"type":"LoginRelease"}',
    '{"type":"WakeRequest"}',
  ];
  for (const text of [
    ...frames,
    '{"type":"StatusUpdate","server":"ghost"}',
    '{"type":"ListUpdate","servers":7}',
  ]) {
    player.session.frame(Buffer.from(text));
  }
  player.session.frame(Buffer.from([0xff, 0xfe, 0x00]));
  assert.deepEqual([player.chat, player.titles, player.sent, player.screen()], [[], [], [], undefined]);
});

test("no server at all is said in chat, in the player's language", () => {
  const player = enter("zh_cn");
  player.session.command("menu");
  player.tell(list([]));
  assert.deepEqual(player.chat, ["目前没有可以加入的服务器。"]);
  assert.equal(player.screen(), undefined);
});
