// A player with a Minecraft client who types an address; everything goes through the proxy.

import assert from "node:assert/strict";
import { until } from "@svc/local-stack/testing";
import { type Bot, type BotOptions, createBot } from "mineflayer";
import { type Stack, send } from "./stack.ts";

export type Visitor = {
  bot: Bot;
  /** Every line of chat so far. */
  lines: readonly string[];
  /** Resolves with the first line that matches, of those that came after `since` lines. */
  hears: (pattern: RegExp, options?: { since?: number; withinMs?: number }) => Promise<string>;
  /** Names of the server that the proxy says the player is on. */
  place: () => Promise<string>;
  isOn: (server: string, withinMs?: number) => Promise<void>;
  command: (line: string) => void;
  /** Why the connection ended. */
  ended: Promise<string>;
  leave: () => Promise<void>;
};

/** What is typed into a client of 1.21.4, or of the version that is named. */
export type Address = string | { host: string; version: string };

/** Types `host` into a client on this machine; resolves once a world is there, and rejects when there is none. */
export async function visit(stack: Stack, username: string, address: Address): Promise<Visitor> {
  const visitor = connectPlayer(stack, username, address);
  const gone = visitor.ended.then((reason) =>
    Promise.reject(new Error(`${username} was sent away: ${reason}`)),
  );
  gone.catch(() => undefined);
  await Promise.race([new Promise((resolve) => visitor.bot.once("spawn", () => resolve(undefined))), gone]);
  return visitor;
}

type Login = Parameters<Extract<NonNullable<BotOptions["auth"]>, (...given: never[]) => void>>;

/** An account of the session server for tests, whose access tokens are the names. */
function accountAt(
  sessionServer: string,
  username: string,
): Pick<BotOptions, "auth"> & { sessionServer: string } {
  const auth = (client: Login[0], options: Login[1]) => {
    const session = { accessToken: username, selectedProfile: { id: username, name: username } };
    Object.assign(client, { username, session });
    Object.assign(options, { haveCredentials: true, accessToken: username });
    client.emit("session", session);
    options.connect?.(client);
  };
  return { auth, sessionServer };
}

/** The same without waiting for a world. */
export function connectPlayer(stack: Stack, username: string, address: Address): Visitor {
  const { host, version } = typeof address === "string" ? { host: address, version: "1.21.4" } : address;
  const { game } = stack.file();
  const options = { host: game.host, port: game.port, fakeHost: host, username, version };
  const account = stack.sessionServer
    ? accountAt(stack.sessionServer, username)
    : { auth: "offline" as const };
  const bot = createBot({ ...options, ...account, checkTimeoutInterval: 60_000, respawn: false });
  const lines: string[] = [];
  let reason = "";
  bot.on("message", (message) => void lines.push(message.toString()));
  // Not `kicked` of the bot: its plugins are loaded a turn late and miss a kick that comes at once.
  for (const packet of ["disconnect", "kick_disconnect"] as const) {
    bot._client.on(packet, (kick: { reason: unknown }) => {
      reason ||= typeof kick.reason === "string" ? kick.reason : JSON.stringify(kick.reason);
    });
  }
  // A connection that breaks is told more than once; every one of them has to be heard.
  bot.on("error", (error) => {
    reason ||= error.message;
  });
  // Not `once` of node:events: it would reject at the first error, and the end is what counts.
  const ended = new Promise<string>((resolve) => bot.once("end", (received) => resolve(reason || received)));
  const hears: Visitor["hears"] = (pattern, { since = 0, withinMs = 20_000 } = {}) =>
    until(
      () => lines.slice(since).find((line) => pattern.test(line)),
      withinMs,
      `${username} to read ${pattern} among\n${lines.join("\n")}\n`,
    );
  // Between two servers nobody can type, and the library would break its own stream.
  const command = (line: string) => void (bot._client.state === "play" && bot.chat(`/${line}`));
  const place = async () => {
    const since = lines.length;
    command("felis");
    // A command that meets a switch of servers has no answer.
    const line = await hears(/You are on (\S+)\./, { since, withinMs: 1_000 });
    return /You are on (\S+)\./.exec(line)?.[1] ?? "";
  };
  return {
    bot,
    lines,
    hears,
    place,
    isOn: async (server, withinMs = 30_000) => {
      await until(async () => (await place()) === server, withinMs, `${username} to be on ${server}`);
    },
    command,
    ended,
    leave: async () => {
      bot.quit();
      await ended;
    },
  };
}

/** The code in the line that the gate shows. */
export const codeIn = (line: string): string => /code: ([A-Z2-9]{8})/.exec(line)?.[1] ?? "";

/** What somebody does who has no account yet: enters the code on the panel. */
export async function bind(stack: Stack, code: string): Promise<void> {
  const { external_base_url, panel_host } = stack.file();
  const headers = { host: `${panel_host}:${new URL(external_base_url).port}` };
  const bound = await send(`${external_base_url}/api/v1/auth/bind`, {
    method: "POST",
    headers,
    body: { code },
  });
  assert.equal(bound.status, 200, JSON.stringify(bound.body));
}

type Tile = { slot: number; words: string };

/** Opens the menu of the lobby and waits until every tile is known. */
export async function openMenu({ bot, command }: Visitor): Promise<Tile[]> {
  const opened = new Promise<void>((resolve) => bot.once("windowOpen", () => resolve()));
  command("menu");
  await opened;
  return until(
    () => {
      const items = (bot.currentWindow?.slots ?? []).flatMap((item, slot) =>
        item ? [{ slot, words: JSON.stringify([item.customName, item.customLore]) }] : [],
      );
      return items.length > 0 && items.every(({ words }) => !words.includes("Asking")) ? items : undefined;
    },
    10_000,
    "the tiles of the menu",
  );
}

/** Clicks the tile of a server, which must say these words; with the right button where it has a second choice. */
export async function clickTile(visitor: Visitor, server: string, words: RegExp): Promise<void> {
  const tile = (await openMenu(visitor)).find((item) => item.words.includes(server));
  assert.match(tile?.words ?? "", words, server);
  const button = /right-click/.test(tile?.words ?? "") ? 1 : 0;
  await visitor.bot.clickWindow(tile?.slot ?? -1, button, 0);
}
