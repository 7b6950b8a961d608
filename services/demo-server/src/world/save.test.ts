import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { GameServer, QueuedColumn } from "flying-squid";
import { createWorldSaver } from "./save.ts";

/** Only the parts of a game server that saving touches; the disk is a list, and each write waits to be let through. */
function worldInMemory() {
  const column = { value: 0 };
  const written: number[] = [];
  const writes: PromiseWithResolvers<void>[] = [];
  const started = new EventEmitter();
  const world = {
    columns: { "0,0": column } as Record<string, object | undefined>,
    savingQueue: new Map<string, QueuedColumn>(),
    unloadQueue: new Map<string, QueuedColumn>(),
    storageProvider: {
      save: async () => {
        const { value } = column;
        const write = Promise.withResolvers<void>();
        writes.push(write);
        started.emit("write");
        await write.promise;
        written.push(value);
      },
      close: async () => {},
    },
    saveNow: async () => {},
    stopSaving: () => {},
    queueSaving: (chunkX: number, chunkZ: number) => {
      world.savingQueue.set(`${chunkX},${chunkZ}`, { chunkX, chunkZ });
    },
    forceUnloadColumn: (key: string) => {
      world.unloadQueue.delete(key);
      delete world.columns[key];
    },
  };
  const used: Record<string, number> = {};
  const server = Object.assign(new EventEmitter(), { players: [], overworld: world, _worldChunksUsed: used });
  const edit = (value: number) => {
    column.value = value;
    world.queueSaving(0, 0);
  };
  return { server: server as unknown as GameServer, world, used, edit, written, writes, started };
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };

test("an edit made while its column is being written is written by the next save", async () => {
  const { server, world, edit, written, writes } = worldInMemory();
  createWorldSaver(server, silent);
  edit(1);
  const first = world.saveNow();
  edit(2);
  writes[0]?.resolve();
  await first;
  assert.equal(world.savingQueue.size, 1);
  const second = world.saveNow();
  writes[1]?.resolve();
  await second;
  assert.deepEqual(written, [1, 2]);
  assert.equal(world.savingQueue.size, 0);
});

test("saveAll waits for the write that runs and for the edits made meanwhile", async () => {
  const { server, world, edit, written, writes, started } = worldInMemory();
  const saver = createWorldSaver(server, silent);
  edit(1);
  void world.saveNow();
  started.on("write", () => writes.at(-1)?.resolve());
  const all = saver.saveAll();
  edit(2);
  writes[0]?.resolve();
  await all;
  assert.equal(written.at(-1), 2);
});

test("a column that nobody uses is unloaded once it is written, and one in use stays", async () => {
  for (const inUse of [false, true]) {
    const { server, world, used, edit, writes } = worldInMemory();
    createWorldSaver(server, silent);
    edit(1);
    world.unloadQueue.set("0,0", { chunkX: 0, chunkZ: 0 });
    if (inUse) used["0,0"] = 1;
    const saved = world.saveNow();
    writes[0]?.resolve();
    await saved;
    assert.equal(world.columns["0,0"] !== undefined, inUse);
    assert.equal(world.unloadQueue.size, 0);
  }
});

test("a write that fails keeps the edit for the next save, and saveAll says so", async () => {
  const { server, world, edit, writes, started } = worldInMemory();
  const saver = createWorldSaver(server, silent);
  edit(1);
  const first = world.saveNow();
  writes[0]?.reject(new Error("no space left on device"));
  await first;
  assert.equal(world.savingQueue.size, 1);
  started.once("write", () => writes.at(-1)?.reject(new Error("no space left on device")));
  await assert.rejects(saver.saveAll(), /no space left/);
});
