import type { Player, World } from "flying-squid";
import type { Log } from "../console/log.ts";

/**
 * The original reads a region while it is being written, and then takes the half written column for a damaged one; and
 * two players who need the same column at once get one each, so that the edits in the first are lost.
 */
export function serializeColumns(world: World): void {
  const { storageProvider } = world;
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(access: () => Promise<T>): Promise<T> => {
    const mine = last.then(access, access);
    last = mine;
    return mine;
  };
  const load = storageProvider.load.bind(storageProvider);
  const save = storageProvider.save.bind(storageProvider);
  storageProvider.load = (chunkX, chunkZ) => inOrder(() => load(chunkX, chunkZ));
  storageProvider.save = (chunkX, chunkZ, column) => inOrder(() => save(chunkX, chunkZ, column));

  const getColumn = world.getColumn.bind(world);
  const pending = new Map<string, Promise<object | undefined>>();
  world.getColumn = (chunkX, chunkZ) => {
    const key = `${chunkX},${chunkZ}`;
    const running = pending.get(key) ?? getColumn(chunkX, chunkZ).finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  };
}

/**
 * Nothing in flying-squid waits for the chunks that a player is sent while moving. After one failure it would send no
 * more of them for as long as the player stays, and say nothing.
 */
export function containChunkFailures(player: Player, log: Log): void {
  const send = player.worldSendRestOfChunks;
  player.worldSendRestOfChunks = async () => {
    try {
      await send();
    } catch (error) {
      if (player.disconnected) return;
      log.error(`Sending chunks to ${player.username} failed: ${(error as Error).stack ?? String(error)}`);
      player._client.end("The server failed to send the world; its log says why.");
    }
  };
}
