import assert from "node:assert/strict";
import { test } from "node:test";
import type { Player, World } from "flying-squid";
import { containChunkFailures, serializeColumns } from "./columns.ts";

function worldInMemory() {
  const reads: PromiseWithResolvers<object | null>[] = [];
  const writes: PromiseWithResolvers<void>[] = [];
  let generated = 0;
  const world = {
    storageProvider: {
      load: () => {
        const read = Promise.withResolvers<object | null>();
        reads.push(read);
        return read.promise;
      },
      save: () => {
        const write = Promise.withResolvers<void>();
        writes.push(write);
        return write.promise;
      },
    },
    getColumn: async (x: number, z: number) => (await load(x, z)) ?? { number: ++generated },
  };
  const load = (x: number, z: number) =>
    (world.storageProvider.load as (x: number, z: number) => Promise<object | null>)(x, z);
  const asWorld = world as unknown as World;
  serializeColumns(asWorld);
  return { world: asWorld, reads, writes };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a column is not read while another one is being written, even if that write fails", async () => {
  const { world, reads, writes } = worldInMemory();
  const saved = world.storageProvider.save(0, 0, {});
  const read = world.getColumn(1, 0);
  await turn();
  assert.deepEqual([writes.length, reads.length], [1, 0]);
  writes[0]?.reject(new Error("no space left on device"));
  await assert.rejects(saved, /no space left/);
  await turn();
  reads[0]?.resolve({ from: "disk" });
  assert.deepEqual(await read, { from: "disk" });
});

test("players who need a column at the same time get the same one", async () => {
  const { world, reads } = worldInMemory();
  const both = Promise.all([world.getColumn(2, 3), world.getColumn(2, 3)]);
  await turn();
  assert.equal(reads.length, 1);
  reads[0]?.resolve(null);
  const [first, second] = await both;
  assert.equal(first, second);
});

test("a player who can't be sent the world is told so, and the log says why", async () => {
  const [lines, ends]: [string[], string[]] = [[], []];
  const player = {
    username: "bob",
    worldSendRestOfChunks: () => Promise.reject(new Error("wrong length 0")),
    _client: { end: (reason: string) => ends.push(reason) },
  } as unknown as Player;
  containChunkFailures(player, { info: () => {}, warn: () => {}, error: (line) => lines.push(line) });
  await player.worldSendRestOfChunks();
  assert.match(lines.join("\n"), /Sending chunks to bob failed: Error: wrong length 0/);
  assert.match(ends.join(), /failed to send the world/);
});
