// Game servers and players of a test: real sockets, the real protocol, modern forwarding; the players are clients of
// minecraft-protocol.

import { randomUUID } from "node:crypto";
import {
  createLimbo,
  kick,
  type LimboSession,
  type Listener,
  listen,
  plainText,
  type ServerStatus,
} from "@svc/minecraft";
import { type ControlFrame, controlChannel, decodeControl, encodeControl } from "@svc/proto/control";
import { type Client, createClient } from "minecraft-protocol";
import type { Account, Service } from "./service.ts";
import { watcher } from "./watcher.ts";

const version = "1.21.4";

/** One backend. What arrives on svc:control is kept; a test answers by `send`. */
export async function startGame(options: { proxyProtocol?: boolean } = {}) {
  const limbo = createLimbo();
  const players = new Map<string, LimboSession>();
  const frames: ControlFrame[] = [];
  const messages: { player: string; channel: string; words: string }[] = [];
  const commands: string[] = [];
  const { wake, until } = watcher();
  let refuse: string | undefined;
  const says: { asked: number; status: ServerStatus | Promise<ServerStatus> } = {
    asked: 0,
    status: { description: "", playersOnline: 0, playersMax: 0 },
  };
  const accepted = new Set<string>();
  const listener: Listener = await listen({
    port: 0,
    host: "127.0.0.1",
    trust: { kind: "forwarded", secret: () => [...accepted] },
    proxyProtocol: options.proxyProtocol ?? false,
    // All players come from the proxy's address.
    maxPerAddress: 4_096,
    status: () => {
      says.asked += 1;
      return says.status;
    },
    onPlayer: async (player) => {
      const { name } = player.profile;
      if (refuse !== undefined) {
        return kick(player, refuse);
      }
      const session = await limbo.enter(player, {
        onPluginMessage: ({ channel, data }) => {
          const frame = channel === controlChannel ? decodeControl(data) : undefined;
          if (frame) frames.push(frame);
          messages.push({ player: name, channel, words: data.toString() });
          wake();
        },
        onCommand: (command) => {
          commands.push(command);
          wake();
        },
        onLeave: () => {
          if (players.get(name) === session) players.delete(name);
          wake();
        },
      });
      players.set(name, session);
      wake();
    },
  });
  return {
    address: `127.0.0.1:${listener.port}`,
    /** What it shows in the server list, and how often that was asked. */
    says,
    players,
    frames,
    /** All plugin messages and commands that players sent here. */
    messages,
    commands,
    until,
    get connections() {
      return listener.connections;
    },
    /** One more secret that a proxy may sign with. */
    accept: (secret: string) => void accepted.add(secret),
    refuseWith: (reason: string | undefined) => {
      refuse = reason;
    },
    player: (name: string) => until(() => players.get(name)),
    send: (name: string, frame: ControlFrame) =>
      players.get(name)?.pluginMessage({ channel: controlChannel, data: encodeControl(frame) }),
    async [Symbol.asyncDispose]() {
      await listener.close();
      await limbo[Symbol.asyncDispose]();
    },
  };
}
export type Game = Awaited<ReturnType<typeof startGame>>;

/** A player of an account of the session server. */
export function joinAs(service: Service, to: { port: number; host: string; account: Account }) {
  const { account } = to;
  const accessToken = randomUUID();
  service.accounts.set(accessToken, account);
  const { wake, until } = watcher();
  const chat: string[] = [];
  const state: { ended: boolean; kicked: string | undefined; channels: string[] } = {
    ended: false,
    kicked: undefined,
    channels: [],
  };
  const options = {
    host: "127.0.0.1",
    port: to.port,
    fakeHost: to.host,
    username: account.name,
    version,
    sessionServer: service.root,
    skipValidation: true,
    disableChatSigning: true,
    auth: (client: Client, settings: Record<string, unknown>) => {
      const session = {
        accessToken,
        selectedProfile: { id: account.uuid.replaceAll("-", ""), name: account.name },
      };
      Object.assign(client, { session, username: account.name });
      Object.assign(settings, { accessToken, haveCredentials: true });
      client.emit("session", session);
      (settings["connect"] as (client: Client) => void)(client);
    },
  };
  const client = createClient(options as unknown as Parameters<typeof createClient>[0]);
  client.setMaxListeners(100);
  client.on("error", () => {});
  client.on("system_chat", ({ content }: { content: unknown }) => {
    chat.push(textOf(content));
    wake();
  });
  client.on("custom_payload", ({ channel }: { channel: string }) => void state.channels.push(channel));
  for (const name of ["disconnect", "kick_disconnect"]) {
    client.on(name, ({ reason }: { reason: unknown }) => {
      state.kicked = textOf(reason);
      wake();
    });
  }
  // The library would hold the process for another 30 s when it is told to end what has ended.
  const forgetTimer = () => clearTimeout((client as unknown as { closeTimer?: NodeJS.Timeout }).closeTimer);
  client.on("end", () => {
    state.ended = true;
    setImmediate(forgetTimer);
    wake();
  });
  return {
    client,
    chat,
    state,
    until,
    hears: (pattern: RegExp) => until(() => chat.find((line) => pattern.test(line))),
    isKicked: () =>
      until(() => (state.kicked !== undefined || state.ended ? (state.kicked ?? "") : undefined)),
    command: (command: string) => client.write("chat_command", { command }),
    leave: async () => {
      if (!state.ended) client.end("bye");
      await until(() => state.ended);
      forgetTimer();
    },
  };
}

/** The words of a text in whichever form the client has parsed it. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value.startsWith("{") ? textOf(JSON.parse(value)) : value;
  if (value === null || typeof value !== "object") return "";
  const plain = value as { type?: string; value?: unknown; text?: unknown };
  if (plain.type !== undefined && "value" in plain) return textOf(plain.value);
  const { extra } = plain as { extra?: unknown };
  return [plainText(textOf(plain.text)), ...listOf(extra).map(textOf)].join("");
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const inner = (value as { value?: unknown } | null | undefined)?.value;
  return inner === undefined ? [] : listOf(inner);
}
