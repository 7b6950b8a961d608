import { createHmac } from "node:crypto";
import { once } from "node:events";
import { waitForSurroundings } from "@svc/minecraft/testing";
import { type Bot, createBot } from "mineflayer";

const host = "127.0.0.1";

type Join = {
  readonly port: number;
  readonly name: string;
  /** The client's; the server's own when absent. */
  readonly version?: string;
  /** Joins as a proxy brings players in, with this body signed by this secret. */
  readonly forwarding?: { readonly secret: string; readonly body: Buffer };
};

type LoginClient = Bot["_client"];

function connectBot({ port, name, version = "1.21.4", forwarding }: Join): Bot {
  const bot = createBot({ host, port, username: name, version, auth: "offline", logErrors: false });
  bot.on("error", () => {});
  if (forwarding) answerAsProxy(bot._client, forwarding);
  return bot;
}

function answerAsProxy(client: LoginClient, { secret, body }: NonNullable<Join["forwarding"]>): void {
  // The library has an answer of its own, which it installs once the connection stands.
  client.once("connect", () => {
    client.removeAllListeners("login_plugin_request");
    client.on("login_plugin_request", ({ messageId }: { messageId: number }) => {
      const signature = createHmac("sha256", secret).update(body).digest();
      client.write("login_plugin_response", { messageId, data: Buffer.concat([signature, body]) });
    });
  });
}

type Node = { readonly extraNodeData?: { readonly name: string } };

/** A player in the game, whose surroundings are loaded. */
export async function joinGame(join: Join) {
  const bot = connectBot(join);
  const commands = once(bot._client, "declare_commands").then(([{ nodes }]) =>
    (nodes as Node[]).flatMap(({ extraNodeData: data }) => (data ? [data.name] : [])),
  );
  commands.catch(() => {});
  const kicked = once(bot, "kicked").then(([reason]) => {
    throw new Error(`${join.name} was kicked: ${String(reason)}`);
  });
  kicked.catch(() => {});
  await Promise.race([once(bot, "spawn"), kicked]);
  await Promise.race([waitForSurroundings(bot), kicked]);
  const leave = async () => {
    const ended = once(bot, "end");
    bot.quit();
    await ended;
  };
  return { bot, commands, leave };
}

/** The text that a player reads who is not let in. */
export async function refusedJoin(join: Join): Promise<string> {
  const bot = connectBot(join);
  const ended = once(bot, "end");
  const joined = once(bot, "spawn").then(() => {
    bot.quit();
    throw new Error(`${join.name} was let in`);
  });
  joined.catch(() => {});
  // mineflayer emits `kicked` only once its plugins are loaded, a turn after it connects.
  const { _client: client } = bot;
  const [{ reason }] = await Promise.race([
    once(client, "disconnect"),
    once(client, "kick_disconnect"),
    joined,
  ]);
  await ended;
  return typeof reason === "string" ? reason : JSON.stringify(reason);
}
