import { once } from "node:events";
import { createRequire } from "node:module";
import { type ControlFrame, controlChannel, decodeControl } from "@svc/proto/control";
import type { Bot } from "mineflayer";
import { type Bridge, createBridge } from "../bridge/bridge.ts";
import { MinecraftFault } from "../fault.ts";
import type { Backend } from "../login/dial.ts";
import { listen } from "../login/listen.ts";

// mineflayer costs half a second to load; only who lets a player join pays it.
const require = createRequire(import.meta.url);

/** A player at the front, and what the server said on svc:control about them. */
type FrontPlayer = { readonly bridge: Bridge; readonly frames: ControlFrame[] };

/** A minimal proxy in front of one server. */
type Front = AsyncDisposable & {
  readonly port: number;
  /** Throws for who has not come. */
  readonly player: (name: string) => FrontPlayer;
};

/** Starts one: players join it by name, it forwards them signed, and keeps what the server says on svc:control. */
export async function startFront(backend: Backend): Promise<Front> {
  const players = new Map<string, FrontPlayer>();
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    trust: { kind: "offline" },
    maxPerAddress: 4_096,
    status: () => ({ description: "front", playersOnline: 0, playersMax: 1 }),
    onPlayer: async (player) => {
      const frames: ControlFrame[] = [];
      const bridge = createBridge(player, {
        onServerMessage: ({ channel, data }) => {
          const frame = channel === controlChannel ? decodeControl(data) : undefined;
          if (frame) frames.push(frame);
          return channel === controlChannel;
        },
        onLost: (_, reason) => bridge.kick(reason ?? "lost"),
      });
      players.set(player.profile.name, { bridge, frames });
      await bridge.connect(backend).catch((error: unknown) => {
        bridge.kick(error instanceof MinecraftFault ? (error.reason ?? error.message) : String(error));
      });
    },
  });
  return {
    port: listener.port,
    player: (name) => {
      const player = players.get(name);
      if (!player) throw new Error(`${name} has not come to the front`);
      return player;
    },
    [Symbol.asyncDispose]: () => listener.close(),
  };
}

/** A real client in a world. */
type Joined = {
  readonly bot: Bot;
  /** Lines of chat so far. */
  readonly chat: string[];
  readonly quit: () => Promise<void>;
};

/** Who joins, and as what client. */
type Join = {
  readonly port: number;
  readonly name: string;
  readonly version?: string;
  readonly locale?: string;
};

function connect({ port, name, version = "1.21.4", locale }: Join): Bot {
  const { createBot } = require("mineflayer") as { createBot: (options: object) => Bot };
  const bot = createBot({
    host: "127.0.0.1",
    port,
    username: name,
    version,
    auth: "offline",
    logErrors: false,
  });
  // The game's own client names its language before it enters a world; the library does so only afterwards.
  bot._client.on("state", (state: string) => {
    if (locale !== undefined && state === "configuration") bot._client.write("settings", settings(locale));
  });
  // And it says so again there, with a language of its own.
  bot.once("inject_allowed", () => {
    if (locale !== undefined) Object.assign(bot.settings, { locale });
  });
  bot.on("error", () => {});
  return bot;
}

const settings = (locale: string) => ({
  locale,
  viewDistance: 8,
  chatFlags: 0,
  chatColors: true,
  skinParts: 127,
  mainHand: 1,
  enableTextFiltering: false,
  enableServerListing: true,
  particleStatus: "all",
});

/** Lets a real client (mineflayer) join; resolves when it is in a world, rejects with the words of a kick. */
export async function join(about: Join): Promise<Joined> {
  const bot = connect(about);
  const chat: string[] = [];
  bot.on("messagestr", (line) => {
    chat.push(line);
  });
  const kicked = once(bot, "kicked").then(([reason]) => {
    throw new Error(`${about.name} was kicked: ${JSON.stringify(reason)}`);
  });
  kicked.catch(() => {});
  await Promise.race([once(bot, "login"), kicked]);
  const quit = async () => {
    const ended = once(bot, "end");
    bot.quit();
    await ended;
  };
  return { bot, chat, quit };
}

/** The words with which a player is sent away. */
export async function kickOf(about: Join): Promise<string> {
  const bot = connect(about);
  const ended = once(bot, "end");
  // mineflayer emits `kicked` only once its plugins are loaded, a turn after it connects.
  const { _client: client } = bot;
  const [{ reason }] = await Promise.race([once(client, "disconnect"), once(client, "kick_disconnect")]);
  await ended;
  return JSON.stringify(reason);
}
