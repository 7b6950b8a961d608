import type { GameServer, Player, World } from "flying-squid";
import type { Log } from "../console/log.ts";

export type WorldSaver = {
  /** Writes every loaded column and player; rejects when something could not be written. */
  saveAll(): Promise<void>;
  /** Saves for the last time and closes the region files. */
  close(): Promise<void>;
  /** Resolves when no player file is being written. */
  playersSettled(): Promise<void>;
};

export function createWorldSaver(server: GameServer, log: Log): WorldSaver {
  const { overworld } = server;
  const flush = ensureSafeSaving(server, log);
  const players = trackPlayerSaves(server, log);
  const saveAll = async () => {
    for (const player of server.players) await player.save();
    await players.settled();
    // Columns of earlier edits are queued again too: what the original save had forgotten gets on disk here.
    for (const key of Object.keys(overworld.columns)) {
      const [chunkX, chunkZ] = key.split(",").map(Number);
      if (chunkX !== undefined && chunkZ !== undefined) overworld.queueSaving(chunkX, chunkZ);
    }
    await flush();
  };
  const close = async () => {
    overworld.stopSaving();
    await saveAll();
    await overworld.storageProvider.close();
  };
  return { saveAll, close, playersSettled: players.settled };
}

/**
 * The original `saveNow` empties the list of changed columns after it has written them, so a change made meanwhile is
 * never written. Here an entry is removed only when it is still the one that was written.
 */
function ensureSafeSaving(server: GameServer, log: Log): () => Promise<void> {
  const world = server.overworld;
  let running: Promise<void> | undefined;
  const pass = async () => {
    for (const [key, entry] of [...world.savingQueue]) {
      const column = world.columns[key];
      if (column) await world.storageProvider.save(entry.chunkX, entry.chunkZ, column);
      if (world.savingQueue.get(key) === entry) world.savingQueue.delete(key);
    }
    unloadSaved(world, server._worldChunksUsed);
  };
  const passOnce = () => {
    running ??= pass().finally(() => {
      running = undefined;
    });
    return running;
  };
  world.saveNow = () =>
    passOnce().catch((error: Error) => log.error(`The world could not be saved: ${error.message}`));
  return async () => {
    await running?.catch(() => {});
    while (world.savingQueue.size > 0) await passOnce();
  };
}

function unloadSaved(world: World, used: GameServer["_worldChunksUsed"]): void {
  for (const [key, { chunkX, chunkZ }] of [...world.unloadQueue]) {
    if (world.savingQueue.has(key)) continue;
    // Somebody came back while the column was being written; unloading it now would cut their edits off.
    if (used[key]) world.unloadQueue.delete(key);
    else world.forceUnloadColumn(key, chunkX, chunkZ);
  }
}

/** One write of a player's file at a time, none before the player is in, and a way to wait for all of them. */
function trackPlayerSaves(server: GameServer, log: Log) {
  const pending = new Set<Promise<void>>();
  server.on("newPlayer", (player: Player) => {
    const save = player.save;
    let joined = false;
    let last: Promise<void> = Promise.resolve();
    player.once("connected", () => {
      joined = true;
    });
    player.save = () => {
      if (!joined) return Promise.resolve();
      const mine = last.then(save).catch((error: Error) => {
        log.error(`The position of ${player.username} could not be saved: ${error.message}`);
      });
      last = mine;
      pending.add(mine);
      return mine.finally(() => pending.delete(mine));
    };
  });
  const settled = async () => {
    while (pending.size > 0) await Promise.all(pending);
  };
  return { settled };
}
