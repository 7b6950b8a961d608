import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { test } from "node:test";
import { socketPair } from "../testing/sockets.ts";
import { varint } from "./bytes.ts";
import { Connection } from "./connection.ts";
import { encodeFrame } from "./frame.ts";
import type { Interest, Relay } from "./relay.ts";
import { startRelay } from "./relay-frames.ts";

const [passing, dropped, counted] = [47, 25, 29];
const threshold = 256;

/** A relay between two sockets: what is written to `source` arrives at `target`, but for what the filter drops. */
async function startFixture() {
  const [[near, source], [outer, target]] = await Promise.all([socketPair(), socketPair()]);
  const [from, to] = [new Connection(near), new Connection(outer)];
  from.threshold = to.threshold = threshold;
  const seen: number[] = [];
  const filter = new Map<number, Interest>([
    [dropped, "inspect"],
    [counted, "notify"],
  ]);
  const relay: Relay = {
    ...{ to, filter, peekBytes: 4_096 },
    onPacket: (id) => seen.push(id) > 0,
    onPassed: (id) => void seen.push(id),
  };
  startRelay(from, relay);
  const end = () => {
    for (const socket of [near, source, outer, target]) socket.destroy();
  };
  return { from, relay, source, target, seen, [Symbol.dispose]: end };
}

async function arriving(target: Socket, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of target.iterator({ destroyOnReturn: false })) {
    length += chunks.push(chunk as Buffer) && (chunk as Buffer).length;
    if (length >= bytes) break;
  }
  return Buffer.concat(chunks);
}

const frame = (id: number, length: number) =>
  encodeFrame(Buffer.concat([varint(id), Buffer.alloc(length, id)]), threshold);
const frames = [
  ...[frame(passing, 8), frame(dropped, 3), frame(passing, 120), frame(counted, 0), frame(passing, 200)],
  ...[frame(dropped, 600), frame(passing, 3_000), frame(200, 9), frame(passing, 70_000), frame(dropped, 1)],
  ...[frame(passing, 1), frame(passing, 254)],
];
const wanted = Buffer.concat(frames.filter((_, place) => ![1, 5, 9].includes(place)));

for (const size of [1, 2, 3, 7, 11, 127, 128, 129, 300, 5_000, 100_000]) {
  test(`frames that come in pieces of ${size} bytes pass whole and in order, but for those that are dropped`, async () => {
    using fixture = await startFixture();
    const { source, target, seen } = fixture;
    const bytes = Buffer.concat(frames);
    const arrived = arriving(target, wanted.length);
    for (let offset = 0; offset < bytes.length; offset += size) {
      source.write(bytes.subarray(offset, offset + size));
      // Now and then the relay has to see a piece by itself.
      if ((offset / size) % 97 < 13) await new Promise(setImmediate);
    }
    assert.ok((await arrived).equals(wanted));
    assert.deepEqual(seen, [dropped, counted, dropped, dropped]);
  });
}

test("a frame that comes byte by byte passes whole", async () => {
  using fixture = await startFixture();
  const { from, source, target } = fixture;
  const body = Buffer.concat([varint(passing), randomBytes(30_000)]);
  const bytes = encodeFrame(body, threshold);
  const arrived = arriving(target, bytes.length);
  // As if each byte had come in a packet of its own, which the kernel would not do to us here.
  for (const byte of bytes.subarray(0, -1)) from.socket.emit("data", Buffer.alloc(1, byte));
  source.write(bytes.subarray(-1));
  assert.ok((await arrived).equals(bytes));
});

test("a new filter applies to the very next packet of the same chunk", async () => {
  using fixture = await startFixture();
  const { relay, source, target, seen } = fixture;
  Object.assign(relay, {
    onPassed: () => {
      relay.filter = new Map([[passing, "inspect"]]);
    },
  });
  const [before, change] = [frame(passing, 4), frame(counted, 5)];
  const expected = Buffer.concat([before, change, change]);
  const arrived = arriving(target, expected.length);
  source.write(Buffer.concat([before, change, before, change]));
  assert.ok((await arrived).equals(expected));
  assert.deepEqual(seen, [passing]);
});

test("a slow reader stops the writer, without loss", async () => {
  using fixture = await startFixture();
  const { source, target, from } = fixture;
  const block = Buffer.concat(new Array<Buffer>(6_000).fill(frame(passing, 8)));
  let written = 0;
  const isStuck = () => from.socket.isPaused() && source.writableNeedDrain;
  for (let quiet = 0; quiet < 50; quiet = isStuck() ? quiet + 1 : 0) {
    if (!source.writableNeedDrain) {
      source.write(block);
      written += block.length;
    }
    await new Promise(setImmediate);
  }
  const arrived = await arriving(target, written);
  assert.ok(arrived.equals(Buffer.concat(new Array<Buffer>(written / block.length).fill(block))));
});
