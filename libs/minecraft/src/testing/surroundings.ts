import type { Bot } from "mineflayer";

type Loading = { on: (event: "chunkColumnLoad", heard: () => void) => void; off: Loading["on"] };

/**
 * Resolves when the chunks around a player are loaded: the one that it stands in and the eight beside it.
 *
 * `Bot.waitForChunksToLoad` takes a player at -0.1 for one in chunk 0, and then waits for a row that no server has sent.
 */
export async function waitForSurroundings(bot: Bot): Promise<void> {
  const world = bot.world as typeof bot.world & Loading;
  const steps = [-16, 0, 16];
  const isLoaded = () =>
    steps.every((x) => steps.every((z) => world.getColumnAt(bot.entity.position.offset(x, 0, z))));
  if (isLoaded()) return;
  await new Promise<void>((resolve) => {
    const heard = () => {
      if (!isLoaded()) return;
      world.off("chunkColumnLoad", heard);
      resolve();
    };
    world.on("chunkColumnLoad", heard);
  });
}
