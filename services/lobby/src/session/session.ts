// One player in the lobby: their commands and clicks, and the proxy's frames.

import { type ControlFrame, decodeControl } from "@svc/proto/control";
import { type Say, sayTo } from "@svc/proto/language";
import type { Clock } from "@svc/service/clock";
import { requestRate } from "../config.ts";
import { chosen, type Server, type Tile, tileOf } from "../menu/tile.ts";
import { errorText, texts } from "../texts.ts";
import { createListRequest, type ListRequest } from "./list-request.ts";
import { createMenu, type Menu } from "./menu.ts";
import type { LobbyPlayer } from "./player.ts";
import { createRateLimitedRequests, type RateLimitedRequests } from "./rate-limited-requests.ts";
import { createServerList, type ServerList } from "./server-list.ts";

type Session = {
  /** Without the slash. */
  readonly command: (text: string) => void;
  readonly frame: (bytes: Buffer) => void;
  readonly click: (slot: number, isRight?: boolean) => void;
  readonly menuClosed: () => void;
};

type Parts = {
  readonly player: LobbyPlayer;
  readonly servers: ServerList;
  readonly menu: Menu;
  readonly list: ListRequest;
  readonly requests: RateLimitedRequests;
  readonly say: Say;
  /** The server of the last click: errors about others answer requests that the player did not make. */
  acted: string | undefined;
};

export const menuCommands: readonly string[] = ["menu", "server"];

export function openSession(player: LobbyPlayer, clock: Clock): Session {
  const { left } = player;
  const say = sayTo(player.locale);
  const requests = createRateLimitedRequests({ send: player.send, clock, rules: requestRate, left });
  const servers = createServerList();
  const menu = createMenu({ player, servers, requests, clock, say });
  const list = createListRequest({
    send: () => sendOrSay({ player, requests, say }, { type: "ListRequest" }),
    onNoAnswer: () => player.say({ text: say(texts.noAnswer), color: "red" }),
    clock,
    left,
  });
  const parts: Parts = { player, servers, menu, list, requests, say, acted: undefined };
  const greeting = { text: say(texts.welcomeButton), color: "aqua", click: { run: "menu" } };
  player.say({ text: say(texts.welcome), color: "yellow", extra: [greeting] });
  return {
    command: (text) => {
      const [name = ""] = text.trim().split(/\s+/, 1);
      if (menuCommands.includes(name.toLowerCase())) list.start();
      else player.say({ text: say(texts.unknownCommand), color: "yellow" });
    },
    frame: (bytes) => {
      const frame = decodeControl(bytes);
      if (frame) receive(frame, parts);
    },
    click: (slot, isRight = false) => {
      if (menu.isOpen()) clicked({ slot, isRight }, parts);
    },
    menuClosed: () => {
      list.settle();
      menu.closed();
    },
  };
}

function sendOrSay(
  { player, requests, say }: Pick<Parts, "player" | "requests" | "say">,
  frame: ControlFrame,
) {
  if (requests.act(frame)) return true;
  player.say({ text: say(texts.tooFast), color: "red" });
  return false;
}

// The client has moved the item in its own view already: whatever the click meant, the chest is shown again.
function clicked({ slot, isRight }: { slot: number; isRight: boolean }, parts: Parts): void {
  const { menu, list } = parts;
  const { click, server } = menu.clicked(slot);
  if (server) act(server, chosen(tileOf(server), isRight), parts);
  else if (click.kind === "page") menu.turnTo(click.index);
  else {
    if (click.kind === "refresh") list.start();
    menu.show();
  }
}

function act({ name }: Server, tile: Tile, parts: Parts): void {
  const { player, menu, say } = parts;
  if (tile.label === "blocked") {
    player.say({
      text: say(texts.cannotStart, { server: name, reason: say(texts.reasons[tile.obstacle]) }),
      color: "red",
    });
    menu.show();
    return;
  }
  if (!sendOrSay(parts, { type: tile.frame, player: null, server: name })) {
    menu.show();
    return;
  }
  parts.acted = name;
  const said = { join: texts.joining, claim: texts.claiming, start: texts.starting }[tile.label];
  player.say({ text: say(said, { server: name }), color: "yellow" });
  menu.close();
}

function receive(frame: ControlFrame, parts: Parts): void {
  const { servers, menu } = parts;
  if (frame.type === "ListUpdate") receiveList(frame, parts);
  if (frame.type === "StatusUpdate" && servers.setStatus(frame)) menu.showSoon();
  if (frame.type === "Error") receiveError(frame, parts);
  if (frame.type === "TransferReady") receiveReady(frame.server ?? "", parts);
}

function receiveList(frame: Extract<ControlFrame, { type: "ListUpdate" }>, parts: Parts): void {
  const { player, servers, menu, list, say } = parts;
  servers.setList(frame);
  const isWanted = list.settle();
  if (menu.isOpen()) menu.refresh();
  else if (!isWanted) return;
  else if (servers.size() === 0) player.say({ text: say(texts.empty), color: "yellow" });
  else menu.open();
}

function receiveError(frame: Extract<ControlFrame, { type: "Error" }>, parts: Parts): void {
  const { player, servers, menu, say } = parts;
  const server = frame.server ?? undefined;
  if (server === undefined || server === parts.acted) {
    parts.acted = undefined;
    player.say({ text: errorText(frame, say), color: "red" });
  } else if (frame.code === "not_found") {
    servers.drop(server);
    if (menu.isOpen()) menu.show();
  }
}

function receiveReady(server: string, { player, menu, say }: Parts): void {
  if (menu.isOpen()) menu.close();
  const text = say(texts.ready, { server });
  player.title({ text: say(texts.readyTitle), color: "green" }, text);
  player.say({ text, color: "green" });
}
