// A Minecraft player for tests.

import { once } from "node:events";
import { waitForSurroundings } from "@svc/minecraft/testing";
import { type Bot, createBot } from "mineflayer";

export type Place = Bot["entity"]["position"];
export type Player = { bot: Bot; leave: () => Promise<void> };

/** Joins `host:port` with a real client and resolves when the world is there. */
export async function join(address: string, username: string): Promise<Player> {
  const [host, port] = address.split(":");
  const bot = createBot({
    host: host ?? "",
    port: Number(port),
    username,
    version: "1.21.4",
    auth: "offline",
    checkTimeoutInterval: 60_000,
    hideErrors: true,
  });
  // Not `once` of node:events, which rejects when an error comes before the end.
  const ended = new Promise<string>((resolve) => void bot.once("end", resolve));
  const refused = new Promise<never>((_, reject) => {
    bot.once("kicked", (reason) => reject(new Error(`${username} was kicked: ${JSON.stringify(reason)}`)));
    // A refused connection is told more than once; every one of them has to be heard.
    bot.on("error", reject);
    void ended.then((reason) => reject(new Error(`${username} lost the connection: ${reason}`)));
  });
  refused.catch(() => undefined);
  await Promise.race([once(bot, "spawn"), refused]);
  await Promise.race([waitForSurroundings(bot), refused]);
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const leave = async () => {
    if (!hasEnded) bot.quit();
    await ended;
  };
  return { bot, leave };
}

/**
 * Breaks a block of the floor near the player's feet and tells where it was. `turn` picks another one each time,
 * so that nobody digs down into the void.
 */
export async function breakFloorBlock(player: Player, turn = 0): Promise<Place> {
  const place = player.bot.entity.position.floored().offset(1 + (turn % 3), -1, Math.floor(turn / 3));
  const block = player.bot.blockAt(place);
  // Dug by an earlier try whose connection was lost right after it.
  if (block?.name === "air") return place;
  if (!block) throw new Error(`there is no block at ${place.toString()}`);
  await player.bot.dig(block, true);
  return place;
}

/** Name of the block at a place, as this player sees it. */
export function blockNameAt(player: Player, place: Place): string | undefined {
  return player.bot.blockAt(place)?.name;
}
